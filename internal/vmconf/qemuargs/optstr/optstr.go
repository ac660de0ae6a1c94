// Package optstr reads the option strings of QEMU, "driver=qcow2,file.filename=a,,b" and the same as JSON, into keys that
// remember where they stand, and says which bytes to change to set one. It is pure. Source: QEMU's docs/interop and
// util/keyval.c, util/qemu-option.c.
package optstr

import (
	"fmt"
	"strings"
)

// Pair is one key with its value.
type Pair struct {
	Key   string // nested ones with dots: "file.driver"
	Value string // unescaped; "on" and "off" for a boolean
	Type  Type
	// From and To are where the value stands, Start where the pair begins and End where it ends, in the text.
	Start, From, To, End int
	ReadOnly             bool // of a nested json: text; it cannot be edited where it stands
	Flag                 bool // a key without a value
}

// Type of a value of JSON; every value of a string is a String.
type Type byte

// Types of values.
const (
	String Type = iota
	Bool
	Number
	Null
)

// Options are the keys of one option string. Where a key appears twice, the last one counts.
type Options struct {
	Text    string
	Pairs   []Pair
	JSON    bool
	Loose   []string // parts that stand where a key would and are not known: "$EXTRA"
	objects map[string]object
}

// object is where a JSON object ends.
type object struct {
	end   int // of its closing brace
	empty bool
}

// Edit replaces the bytes of the text from From to To.
type Edit struct {
	From, To int
	Text     string
}

// maxPairs is how many keys one option may have.
const maxPairs = 4096

var errPairs = fmt.Errorf("it has more than %d keys", maxPairs)

// Read reads an option string. implied is the key of a first part without "=", "" for none. open tells of each byte whether it
// is of something that is not known: a comma there separates nothing; nil for no byte. The error says what is wrong.
func Read(text, implied string, open []bool) (Options, error) {
	unknown := func(i int) bool { return open != nil && open[i] }
	if strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") {
		return readJSON(text)
	}
	o := Options{Text: text}
	for at := 0; at < len(text); {
		end, value := at, -1
		for end < len(text) {
			c := text[end]
			switch {
			case unknown(end):
			case c == '=' && value < 0:
				value = end + 1
			case c == ',' && end+1 < len(text) && text[end+1] == ',' && (value >= 0 || implied != ""):
				end++
			case c == ',':
				goto cut
			}
			end++
		}
	cut:
		o.pair(at, value, end, implied, unknown)
		implied = ""
		at = end + 1
		if len(o.Pairs) > maxPairs {
			return o, errPairs
		}
	}
	return o, nil
}

func (o *Options) pair(at, value, end int, implied string, unknown func(int) bool) {
	p := Pair{Start: at, From: value, To: end, End: end}
	raw := o.Text[at:end]
	switch {
	case value >= 0:
		p.Key, p.Value = o.Text[at:value-1], strings.ReplaceAll(o.Text[value:end], ",,", ",")
	case strings.TrimSpace(raw) == "":
		return
	case implied != "":
		p.Key, p.Value, p.From = implied, strings.ReplaceAll(raw, ",,", ","), at
	case unknown(at):
		o.Loose = append(o.Loose, raw)
		return
	case strings.HasPrefix(raw, "no"):
		p.Key, p.Value, p.Flag, p.From = strings.TrimPrefix(raw, "no"), "off", true, end
	default:
		p.Key, p.Value, p.Flag, p.From = raw, "on", true, end
	}
	if strings.HasPrefix(p.Value, "json:") && p.Key == "file" {
		if in, err := readJSON(p.Value[len("json:"):]); err == nil {
			for _, q := range in.Pairs {
				q.ReadOnly = true
				q.Start, q.From, q.To, q.End = p.Start, p.From, p.To, p.End
				o.Pairs = append([]Pair{q}, o.Pairs...)
			}
			return
		}
	}
	o.Pairs = append(o.Pairs, p)
}

// Get returns the pair that counts of a key, under any of the names that it has.
func (o Options) Get(names ...string) (Pair, bool) {
	for i := len(o.Pairs) - 1; i >= 0; i-- {
		for _, n := range names {
			if o.Pairs[i].Key == n {
				return o.Pairs[i], true
			}
		}
	}
	return Pair{}, false
}

// Value returns the value of a key, "" where it is not there.
func (o Options) Value(names ...string) string {
	p, _ := o.Get(names...)
	return p.Value
}

// Under returns whether a key begins with the prefix and a dot.
func (o Options) Under(prefix string) bool {
	for _, p := range o.Pairs {
		if strings.HasPrefix(p.Key, prefix+".") {
			return true
		}
	}
	return false
}
