package qemuargs

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/vmconf/qemuargs/optstr"
	"github.com/iotax/iotax/internal/vmconf/qemuargs/words"
)

// editor collects the splices of one round of one change.
type editor struct {
	g       *guest
	all     []step
	splices []words.Splice
	again   bool // the change is not done with them
	err     error
}

// splice makes edits of an option's value.
func (e *editor) splice(o *option, edits []optstr.Edit) error {
	var out []words.Splice
	for _, ed := range edits {
		s, err := o.value.Splice(ed.From, ed.To, ed.Text)
		if err != nil {
			return err
		}
		out = append(out, s...)
	}
	if err := e.own(o); err != nil {
		return err
	}
	e.splices = append(e.splices, out...)
	return nil
}

// own fails where the option is in a variable that other machines use too.
func (e *editor) own(o *option) error {
	n := 0
	for _, g := range e.g.doc.guests {
		for _, other := range g.opts {
			if other.word.Start == o.word.Start {
				n++
			}
		}
	}
	if n > 1 {
		return fmt.Errorf("the variable %s is used more than once; change line %d by hand", o.word.Of, o.at.Line)
	}
	return nil
}

// set gives a key of an option a value. What stands in a variable is left, and overridden behind it.
func (e *editor) set(o *option, key, value string, t optstr.Type) {
	if e.err != nil {
		return
	}
	if p, ok := o.set.Get(key); ok && p.Value == value && openIn(o.value, p.From, p.To) == "" {
		return
	}
	err := e.splice(o, o.set.Set(key, value, t))
	if err != nil && !o.set.JSON && shortOf(o) == "" {
		err = e.splice(o, []optstr.Edit{o.set.Append(key, value)})
	}
	e.fail(o, err)
}

// drop takes keys out of an option.
func (e *editor) drop(o *option, keys ...string) {
	for _, key := range keys {
		if edits := o.set.Drop(key); len(edits) > 0 && e.err == nil {
			e.fail(o, e.splice(o, edits))
		}
	}
}

func (e *editor) fail(o *option, err error) {
	if err != nil && e.err == nil {
		e.err = fmt.Errorf("-%s in line %d: %w", o.name, o.at.Line, err)
	}
}

// shortOf returns the name of an option that stands for a -drive.
func shortOf(o *option) string {
	if _, ok := shorts[o.name]; ok {
		return "-" + o.name
	}
	return ""
}

// layout returns what separates options where one stands, and what separates an option from its value.
func (e *editor) layout(o *option) (between, inner string) {
	data := e.g.doc.text.Data
	switch {
	case e.g.doc.text.Vector && bytes.IndexByte(data, 0) >= 0:
		return "\x00", "\x00"
	case e.g.doc.text.Vector:
		return lineEnd(data), lineEnd(data)
	}
	line := bytes.LastIndexByte(data[:o.word.Start], '\n') + 1
	indent := string(data[line:o.word.Start])
	if line == 0 || strings.TrimSpace(indent) != "" {
		return " ", " "
	}
	before := strings.TrimRight(string(data[max(0, line-4):line]), "\r\n")
	end := lineEnd(data)
	if before != "" && strings.IndexByte("\\^`", before[len(before)-1]) >= 0 {
		return " " + before[len(before)-1:] + end + indent, " "
	}
	return end + indent, " "
}

func lineEnd(data []byte) string {
	if bytes.Contains(data, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// end is where an option ends in the text.
func (o *option) end() int {
	if o.has {
		return max(o.value.End, o.word.End)
	}
	return o.word.End
}

// dashes is how the option's neighbours are written.
func dashes(o *option) string {
	if strings.HasPrefix(o.word.Text, "--") {
		return "--"
	}
	return "-"
}

// before adds options in front of one; each is a name and a value.
func (e *editor) before(o *option, added ...[2]string) {
	between, inner := e.layout(o)
	text := ""
	for _, a := range added {
		text += dashes(o) + a[0] + inner + a[1] + between
	}
	e.insert(o, o.word.Start, text)
}

// after adds options behind one.
func (e *editor) after(o *option, added ...[2]string) {
	between, inner := e.layout(o)
	text := ""
	for _, a := range added {
		text += between + dashes(o) + a[0] + inner + a[1]
	}
	e.insert(o, o.end(), text)
}

func (e *editor) insert(o *option, at int, text string) {
	e.fail(o, e.own(o))
	e.splices = append(e.splices, words.Splice{Start: at, End: at, Text: text})
}

// remove takes a whole option out, with what separates it from the next or, for the last, from the one before.
func (e *editor) remove(o *option) {
	from, to := o.word.Start, o.end()
	data := e.g.doc.text.Data
	for i, other := range e.g.opts {
		if other != o {
			continue
		}
		if i+1 < len(e.g.opts) && e.g.opts[i+1].word.Start > to && blank(data[to:e.g.opts[i+1].word.Start]) {
			to = e.g.opts[i+1].word.Start
		} else if i > 0 && e.g.opts[i-1].end() < from && blank(data[e.g.opts[i-1].end():from]) {
			from = e.g.opts[i-1].end()
		}
	}
	e.fail(o, e.own(o))
	e.splices = append(e.splices, words.Splice{Start: from, End: to})
}

func blank(b []byte) bool { return strings.Trim(string(b), " \t\r\n\\^`\x00") == "" }

// unique returns an ID that no option has yet.
func (g *guest) unique(prefix, of string) string {
	id := prefix + strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '-' || r == '.' || r == '_' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z') {
			return r
		}
		return '-'
	}, of)
	taken := map[string]bool{}
	for _, o := range g.opts {
		taken[o.set.Value("id")] = true
	}
	first := id
	for i := 2; taken[id]; i++ {
		id = first + "-" + strconv.Itoa(i)
	}
	return id
}
