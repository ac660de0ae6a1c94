package optstr

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/iotax/iotax/internal/vmconf"
)

// decoder flattens one JSON object.
type decoder struct {
	text string
	pos  int
	out  *Options
}

func readJSON(text string) (Options, error) {
	o := Options{Text: text, JSON: true, objects: map[string]object{}}
	d := &decoder{text: text, out: &o}
	d.space()
	err := d.object("", 0)
	if d.space(); err == nil && d.pos < len(text) {
		err = d.fault("the end")
	}
	if err != nil {
		err = fmt.Errorf("not valid JSON: %w", err)
	}
	return o, err
}

func (d *decoder) fault(want string) error {
	if d.pos >= len(d.text) {
		return fmt.Errorf("it ends where %s should be", want)
	}
	r, _ := utf8.DecodeRuneInString(d.text[d.pos:])
	return fmt.Errorf("%q at byte %d, where %s should be", r, d.pos+1, want)
}

func (d *decoder) space() {
	for d.pos < len(d.text) && strings.IndexByte(" \t\r\n", d.text[d.pos]) >= 0 {
		d.pos++
	}
}

func (d *decoder) take(c byte) bool {
	d.space()
	if d.pos < len(d.text) && d.text[d.pos] == c {
		d.pos++
		return true
	}
	return false
}

func (d *decoder) object(prefix string, depth int) error {
	if depth > vmconf.MaxDepth {
		return fmt.Errorf("it is nested more than %d deep", vmconf.MaxDepth)
	}
	if !d.take('{') {
		return d.fault("{")
	}
	empty := true
	for !d.take('}') {
		if !empty && !d.take(',') {
			return d.fault(", or }")
		}
		d.space()
		start := d.pos
		key, err := d.str()
		if err != nil {
			return err
		}
		if !d.take(':') {
			return d.fault(":")
		}
		if err := d.value(prefix+key, start, depth); err != nil {
			return err
		}
		empty = false
	}
	d.out.objects[strings.TrimSuffix(prefix, ".")] = object{end: d.pos - 1, empty: empty}
	return nil
}

func (d *decoder) array(prefix string, depth int) error {
	if depth > vmconf.MaxDepth {
		return fmt.Errorf("it is nested more than %d deep", vmconf.MaxDepth)
	}
	d.pos++
	for i := 0; !d.take(']'); i++ {
		if i > 0 && !d.take(',') {
			return d.fault(", or ]")
		}
		d.space()
		if err := d.value(prefix+strconv.Itoa(i), d.pos, depth); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) value(key string, start, depth int) error {
	d.space()
	if d.pos >= len(d.text) {
		return d.fault("a value")
	}
	from := d.pos
	p := Pair{Key: key, Start: start, From: from}
	switch c := d.text[d.pos]; {
	case c == '{':
		return d.object(key+".", depth+1)
	case c == '[':
		return d.array(key+".", depth+1)
	case c == '"':
		s, err := d.str()
		if err != nil {
			return err
		}
		p.Value = s
	default:
		for d.pos < len(d.text) && strings.IndexByte(",]} \t\r\n", d.text[d.pos]) < 0 {
			d.pos++
		}
		p.Value, p.Type = d.text[from:d.pos], Number
		switch p.Value {
		case "true", "false":
			p.Type = Bool
			p.Value = map[string]string{"true": "on", "false": "off"}[p.Value]
		case "null":
			p.Type, p.Value = Null, ""
		default:
			if _, err := strconv.ParseFloat(p.Value, 64); err != nil {
				d.pos = from
				return d.fault("a value")
			}
		}
	}
	p.To, p.End = d.pos, d.pos
	if d.out.Pairs = append(d.out.Pairs, p); len(d.out.Pairs) > maxPairs {
		return errPairs
	}
	return nil
}

func (d *decoder) str() (string, error) {
	if d.pos >= len(d.text) || d.text[d.pos] != '"' {
		return "", d.fault("a string")
	}
	start := d.pos
	for d.pos++; d.pos < len(d.text); d.pos++ {
		switch d.text[d.pos] {
		case '\\':
			d.pos++
		case '"':
			d.pos++
			var s string
			if err := json.Unmarshal([]byte(d.text[start:d.pos]), &s); err != nil {
				return "", fmt.Errorf("the string at byte %d: %w", start+1, err)
			}
			return s, nil
		}
	}
	d.pos = len(d.text)
	return "", d.fault(`the closing "`)
}
