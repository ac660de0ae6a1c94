package pve

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// property is one part of a property string: "local-lvm:vm-100-disk-0,iothread=1" has two. text is the part as it is written.
type property struct{ key, value, text string }

// properties is a property string in its order.
type properties []property

// parseProperties splits value. A part without a key has the key that the option gives to it, standard.
func parseProperties(value, standard string) properties {
	var list properties
	for i, text := range strings.Split(value, ",") {
		p := property{key: standard, value: strings.TrimSpace(text), text: text}
		if k, v, ok := strings.Cut(p.value, "="); ok && !(i == 0 && strings.ContainsAny(k, ":/")) {
			p.key, p.value = strings.TrimSpace(k), strings.TrimSpace(v)
		}
		if full, ok := properAlias[p.key]; ok {
			p.key = full
		}
		list = append(list, p)
	}
	return list
}

// String is the property string, byte for byte where it was not changed.
func (l properties) String() string {
	parts := make([]string, len(l))
	for i, p := range l {
		parts[i] = p.text
	}
	return strings.Join(parts, ",")
}

// get returns a property's value. Proxmox VE refuses a property that stands there twice; the first counts here.
func (l properties) get(key string) (string, bool) {
	if i := l.index(key); i >= 0 {
		return l[i].value, true
	}
	return "", false
}

func (l properties) index(key string) int {
	return slices.IndexFunc(l, func(p property) bool { return p.key == key && p.value != "" })
}

// with returns the list with a property set, where it stands or else where Proxmox VE, which sorts them, would write it.
func (l properties) with(key, value string) properties {
	p := property{key, value, key + "=" + value}
	if i := l.index(key); i >= 0 {
		if !strings.Contains(l[i].text, "=") { // the standard key, which is not written
			p.text = value
		}
		out := slices.Clone(l)
		out[i] = p
		return out
	}
	after := func(o property) bool { return o.key > key && strings.Contains(o.text, "=") }
	at := slices.IndexFunc(l, after)
	if at <= 0 {
		at = len(l)
	}
	return slices.Insert(slices.Clone(l), at, p)
}

// without returns the list without the properties that are unwanted.
func (l properties) without(unwanted func(key string) bool) properties {
	var out properties
	for _, p := range l {
		if !unwanted(p.key) {
			out = append(out, p)
		}
	}
	return out
}

// parseBool reads a boolean as Proxmox VE does.
func parseBool(s string) (value, ok bool) {
	switch strings.ToLower(s) {
	case "1", "on", "yes", "true":
		return true, true
	case "0", "off", "no", "false":
		return false, true
	}
	return false, false
}

// parseSize reads a size as Proxmox VE writes it ("32G", "104858K", "512") into bytes.
func parseSize(s string) (int64, bool) {
	shift := 0
	if s != "" {
		if i := strings.IndexByte("KMGT", s[len(s)-1]); i >= 0 {
			s, shift = s[:len(s)-1], 10*(i+1)
		}
	}
	n, err := strconv.ParseFloat(s, 64)
	size := n * float64(int64(1)<<shift)
	if err != nil || n < 0 || !(size < math.MaxInt64) || strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	return int64(size), true
}
