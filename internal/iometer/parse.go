package iometer

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/suggest"
)

// maxFile bounds a file; a real one has a few KiB.
const maxFile = 1 << 20

// The comment lines by which Iometer finds its way, without their apostrophe. It compares them in any case.
const (
	section    = "ACCESS SPECIFICATIONS"
	sectionEnd = "END access specifications"
	nameKey    = "Access specification name,default assignment"
	columnsKey = "size,% of size,% reads,% random,delay,burst,align,reply"
)

// sections are the headings of a configuration file. Of the others only the workers' assignments are read.
var sections = []string{"TEST SETUP", "RESULTS DISPLAY", section, "MANAGER LIST"}

// Parse reads every access specification of an Iometer configuration file; name is the file's, for messages.
// Results files hold the specifications that ran in the same form and are read as well. There is at least one
// specification, and no two have the same name.
//
// The error is an errkind.List that holds every fault at once, one line each:
// "all.icf:31:12  All in one: % reads: 101 is out of range; expected 0 to 100".
func Parse(name string, data []byte) ([]AccessSpec, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(data) > maxFile {
		return nil, errkind.List{errkind.Userf("%s: the file has %d bytes; an Iometer configuration has at most 1 MiB", name, len(data))}
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return nil, errkind.List{errkind.Userf("%s: the file is not plain text; save it as UTF-8 or ANSI, as Iometer does", name)}
	}
	p := parser{faults: faults{file: name}}
	for line := range strings.Lines(text(data)) {
		p.line++
		line = strings.TrimRight(line, "\r\n")
		if content := strings.TrimSpace(line); content != "" {
			p.read(line, content)
		}
	}
	p.end()
	if err := p.err(); err != nil {
		return nil, err
	}
	p.assign()
	return p.specs, nil
}

// text decodes a file: UTF-8, or what Windows writes for Western names, read as Latin-1.
func text(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	runes := make([]rune, len(data))
	for i, b := range data {
		runes[i] = rune(b)
	}
	return string(runes)
}

// parser walks a file line by line.
type parser struct {
	faults
	line    int // number of the line at hand
	inside  bool
	seen    bool // the section has been there
	expect  want
	specs   []AccessSpec
	at      []int // the line on which each of specs is named
	broken  bool  // a line of the last specification could not be read: its shares are not judged
	workers workers
}

// want is what the next line of data must be.
type want int

const (
	nothing want = iota
	wantName
	wantLines
)

// read takes one line that is not blank; content is the line without its margins.
func (p *parser) read(line, content string) {
	comment, isComment := strings.CutPrefix(content, "'")
	title, isHeading := ruled(comment)
	switch {
	case isComment && !p.inside && hasPrefix(comment, section):
		p.inside, p.seen, p.expect = true, true, nothing
	case isComment && isHeading:
		p.heading(line, title)
	case !p.inside:
		p.workers.read(p, line, content)
	case isComment:
		p.key(line, comment)
	case p.expect == wantName:
		p.name(line, content)
	case p.expect == wantLines:
		p.values(line)
	default:
		p.add(p.line, column(line, content), "%q is out of place; expected the line \"'%s\" before it", clip(content), nameKey)
	}
}

// ruled takes the rule off "TEST SETUP =====".
func ruled(comment string) (title string, ok bool) {
	title = strings.TrimRight(comment, "=")
	return strings.TrimSpace(title), strings.HasSuffix(comment, "====")
}

// heading ends the section when another begins, and complains about a heading that was perhaps meant to be ours.
func (p *parser) heading(line, title string) {
	if p.inside {
		p.finish()
		p.add(p.line, column(line, "'"), "the section %s has no end; expected the line \"'%s\" before this one", section, sectionEnd)
		p.inside = hasPrefix(title, section)
	}
	if suggest.Nearest(title, sections) == section && !p.seen {
		p.seen = true
		p.add(p.line, column(line, "'")+1, "unknown section %q; did you mean %q?", clip(title), section)
	}
}

// key takes a comment line inside the section. One that was perhaps meant to be a key is taken for it after the
// complaint, so that what follows is not complained about as well.
func (p *parser) key(line, comment string) {
	key := comment
	first, _, _ := strings.Cut(comment, ",")
	for _, k := range []string{sectionEnd, nameKey, columnsKey} {
		begin, _, _ := strings.Cut(k, ",") // what tells the keys apart, and short enough to be searched
		if !hasPrefix(comment, k) && suggest.Nearest(first, []string{begin}) != "" {
			p.add(p.line, column(line, "'"), "unknown line %q; did you mean \"'%s\"?", clip("'"+comment), k)
			key = k
		}
	}
	switch {
	case hasPrefix(key, sectionEnd):
		p.finish()
		p.inside = false
	case hasPrefix(key, nameKey):
		p.finish()
		p.expect = wantName
	case hasPrefix(key, columnsKey) && p.expect == wantLines:
	default:
		p.add(p.line, column(line, "'"), "%q is out of place; expected \"'%s\" or \"'%s\"", clip("'"+comment), nameKey, sectionEnd)
	}
}

// assignments are the words of the default assignment. Some writers give its number, from 0.
var assignments = []string{"NONE", "ALL", "DISK", "NET"}

// name begins a specification: "All in one,NONE".
func (p *parser) name(line, content string) {
	s := AccessSpec{Name: content, Assignment: assignments[0]}
	if i := strings.LastIndexByte(content, ','); i >= 0 {
		s.Name = strings.TrimSpace(content[:i])
		word := strings.TrimSpace(content[i+1:])
		known := slices.IndexFunc(assignments, func(a string) bool { return strings.EqualFold(a, word) })
		if n, err := strconv.Atoi(word); err == nil && n >= 0 && n < len(assignments) {
			known = n
		}
		if known < 0 {
			p.add(p.line, column(line, content)+utf8.RuneCountInString(content[:i+1]),
				"%s: unknown default assignment %q; expected one of %s", clip(s.Name), clip(word), strings.Join(assignments, ", "))
		} else {
			s.Assignment = assignments[known]
		}
	}
	if s.Name == "" {
		p.add(p.line, column(line, content), "the access specification has no name; expected one, such as \"All in one,NONE\"")
	}
	p.specs, p.at = append(p.specs, s), append(p.at, p.line)
	p.expect, p.broken = wantLines, false
}

// finish judges the last specification as a whole, once.
func (p *parser) finish() {
	switch {
	case p.expect == wantName:
		p.add(p.line, 1, "the access specification has no name; expected one before this line, such as \"All in one,NONE\"")
	case p.expect == wantLines && !p.broken:
		p.judge(len(p.specs) - 1)
	}
	p.expect = nothing
}

// judge looks at specs[last] after its last line. A results file repeats a specification for every test that ran it:
// one that stands there already, line for line, is dropped.
func (p *parser) judge(last int) {
	s := p.specs[last]
	sum := 0
	for _, l := range s.Lines {
		sum += l.Share
	}
	switch {
	case len(s.Lines) == 0:
		p.add(p.at[last], 1, "%s: has no lines; expected lines of %s", clip(s.Name), columnsKey)
	case sum != 100:
		p.add(p.at[last], 1, "%s: %% of size adds up to %d; expected 100", clip(s.Name), sum)
	}
	first := slices.IndexFunc(p.specs, func(o AccessSpec) bool { return strings.EqualFold(o.Name, s.Name) })
	switch {
	case first == last:
	case slices.Equal(p.specs[first].Lines, s.Lines):
		p.specs, p.at = p.specs[:last], p.at[:last]
	default:
		p.add(p.at[last], 1, "%s: stands on line %d already, with other lines; expected different names", clip(s.Name), p.at[first])
	}
}

// end judges the file as a whole.
func (p *parser) end() {
	switch {
	case p.inside:
		p.finish()
		p.add(max(p.line, 1), 1, "the file ends within the section %s; expected the line \"'%s\"", section, sectionEnd)
	case !p.seen:
		p.add(1, 1, "the file has no section %s; expected an Iometer configuration", section)
	case len(p.specs) == 0 && len(p.list) == 0:
		p.add(1, 1, "the section %s is empty; expected at least one access specification", section)
	}
}

// hasPrefix reports whether a comment begins with a key, in any case of its letters.
func hasPrefix(comment, key string) bool {
	return len(comment) >= len(key) && strings.EqualFold(comment[:len(key)], key)
}

// column is where part begins in line, from 1.
func column(line, part string) int {
	return utf8.RuneCountInString(line[:max(strings.Index(line, part), 0)]) + 1
}
