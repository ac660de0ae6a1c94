package cmdline

import "strings"

// option is one QEMU option in its key=value form. head is the value without a key that some options begin
// with, such as the type of a -device.
type option struct {
	flag, head string
	props      []prop
}

type prop struct{ key, value string }

func (o *option) set(key, value string) { o.props = append(o.props, prop{key, value}) }

func (o *option) get(key string) string {
	for _, p := range o.props {
		if p.key == key {
			return p.value
		}
	}
	return ""
}

// value renders everything after the flag. QEMU's parser ends a value at a comma unless it is doubled.
func (o *option) value() string {
	var parts []string
	if o.head != "" {
		parts = append(parts, o.head)
	}
	for _, p := range o.props {
		parts = append(parts, p.key+"="+strings.ReplaceAll(p.value, ",", ",,"))
	}
	return strings.Join(parts, ",")
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}
