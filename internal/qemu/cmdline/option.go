package cmdline

import (
	"encoding/json"
	"strconv"
	"strings"
)

// option is one QEMU option in its key=value form. head is the value without a key that some options begin
// with, such as the type of a -device.
type option struct {
	flag, head string
	props      []prop
	json       bool // a -device in its JSON form (since QEMU 6.2), the only one that can say lists and objects
}

// prop is one property. json is its value in the JSON form, "" where that is value in quotes.
type prop struct{ key, value, json string }

func (o *option) set(key, value string) { o.props = append(o.props, prop{key: key, value: value}) }

// setNumber sets a property that has no quotes in the JSON form.
func (o *option) setNumber(key string, n int) {
	o.props = append(o.props, prop{key, strconv.Itoa(n), strconv.Itoa(n)})
}

// setNested sets a property that only the JSON form can say.
func (o *option) setNested(key string, value []map[string]string) {
	o.props = append(o.props, prop{key: key, json: jsonOf(value)})
	o.json = true
}

func jsonOf(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // strings, and lists and objects of them, always have a JSON form
	}
	return string(text)
}

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
	if o.json {
		return o.object()
	}
	var parts []string
	if o.head != "" {
		parts = append(parts, o.head)
	}
	for _, p := range o.props {
		parts = append(parts, p.key+"="+strings.ReplaceAll(p.value, ",", ",,"))
	}
	return strings.Join(parts, ",")
}

// object renders a device in its JSON form, in the order of its properties.
func (o *option) object() string {
	parts := []string{jsonOf("driver") + ":" + jsonOf(o.head)}
	for _, p := range o.props {
		value := p.json
		if value == "" {
			value = jsonOf(p.value)
		}
		parts = append(parts, jsonOf(p.key)+":"+value)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}
