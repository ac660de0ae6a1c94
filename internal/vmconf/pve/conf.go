package pve

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// conf is the lines that take effect in one machine.
type conf struct {
	doc     *Document
	section *section // where a new line would go
	part    string
	entries []entry        // in the order of the file, each key once
	index   map[string]int // of entries, by key
	unknown []vmconf.Unknown
}

// newConf takes what counts of a section. under are the lines that it changes: those of the current section, for pending
// changes.
func newConf(d *Document, s *section, under *conf) *conf {
	c := &conf{doc: d, section: s, unknown: slices.Clone(s.notes)}
	last := map[string]int{}
	for i, e := range s.entries {
		last[e.key] = i
	}
	var own []entry
	for i, e := range s.entries {
		switch {
		case last[e.key] != i:
			c.note(e, "line %d sets it again, so this has no effect", s.entries[last[e.key]].line)
		case s.kind == pendingSection && e.key == "delete":
		default:
			own = append(own, e)
		}
	}
	c.entries = own
	switch s.kind {
	case pendingSection:
		c.part = "pending"
		c.entries = merged(under.entries, own, deleted(s))
	case snapshotSection:
		c.part = "snapshot " + s.name
	}
	c.index = map[string]int{}
	for i, e := range c.entries {
		c.index[e.key] = i
	}
	return c
}

// deleted are the keys that a section of pending changes takes out.
func deleted(s *section) map[string]bool {
	gone := map[string]bool{}
	for _, e := range s.entries {
		if e.key == "delete" {
			for _, k := range strings.FieldsFunc(e.value, func(r rune) bool { return strings.ContainsRune(",; \t", r) }) {
				gone[strings.TrimPrefix(k, "!")] = true
			}
		}
	}
	return gone
}

// merged are lines with changes made.
func merged(lines, changes []entry, gone map[string]bool) []entry {
	changed := map[string]entry{}
	for _, e := range changes {
		changed[e.key] = e
	}
	var out []entry
	for _, e := range lines {
		if by, ok := changed[e.key]; ok {
			out = append(out, by)
			delete(changed, e.key)
		} else if !gone[e.key] {
			out = append(out, e)
		}
	}
	for _, e := range changes {
		if _, ok := changed[e.key]; ok {
			out = append(out, e)
		}
	}
	return out
}

func (c *conf) find(key string) (entry, bool) {
	i, ok := c.index[key]
	if !ok {
		return entry{}, false
	}
	return c.entries[i], true
}

// value is a key's value, "" where it is not set.
func (c *conf) value(key string) string {
	e, _ := c.find(key)
	return e.value
}

// note keeps what was not understood of a line.
func (c *conf) note(e entry, format string, args ...any) {
	if len(c.unknown) <= mostUnknown {
		c.unknown = append(c.unknown, c.doc.unknown(e.line, "%s: %s: %s", e.key, oneLine(e.value), fmt.Sprintf(format, args...)))
	}
}

// start is where the machine stands.
func (c *conf) start() vmconf.Place { return c.doc.at(c.section.line) }

// number is a key's value as a positive whole number, def where it is not set or none.
func (c *conf) number(key string, def int64) (int64, entry, bool) {
	e, ok := c.find(key)
	if !ok {
		return def, e, false
	}
	n, err := strconv.ParseInt(e.value, 10, 64)
	if err != nil || n < 0 || n > 1<<30 {
		c.note(e, "not a whole number")
		return def, e, false
	}
	return n, e, true
}

// flag is a key's value as a boolean.
func (c *conf) flag(key string, def bool) (bool, entry, bool) {
	e, ok := c.find(key)
	if !ok {
		return def, e, false
	}
	on, ok := parseBool(e.value)
	if !ok {
		c.note(e, "neither 0 nor 1")
		return def, e, false
	}
	return on, e, true
}
