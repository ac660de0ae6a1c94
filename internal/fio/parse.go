package fio

import (
	"bytes"
	"fmt"
	"strings"
)

// maxNotes bounds what is kept of a long text: a failing verify prints a line per block.
const maxNotes = 50

// NoResultError says that a text holds no result of fio, and why.
type NoResultError struct {
	Said      []string // what fio said instead: its error lines, else the first lines of the text
	Truncated bool     // a JSON document begins and does not end
	Malformed error    // a JSON document is complete and cannot be read
}

// Error returns one line.
func (e *NoResultError) Error() string {
	var why string
	switch {
	case e.Truncated:
		why = "fio's output is truncated: its JSON does not end"
	case e.Malformed != nil:
		why = fmt.Sprintf("fio's JSON cannot be read: %v", e.Malformed)
	case len(e.Said) == 0:
		return "fio gave no result: its output is empty"
	default:
		why = "fio gave no result"
	}
	if len(e.Said) == 0 {
		return why
	}
	const shown = 3
	said := strings.Join(e.Said[:min(len(e.Said), shown)], "; ")
	if more := len(e.Said) - shown; more > 0 {
		said += fmt.Sprintf("; and %d more lines", more)
	}
	return why + ": " + said
}

// Unwrap returns the JSON error, if that is the reason.
func (e *NoResultError) Unwrap() error { return e.Malformed }

// Parse reads the output of one run of fio in any format: json, json+, client/server JSON and terse version 2 to 5,
// each with whatever fio printed around it. Of several JSON documents (--status-interval) it returns the last
// complete one and says so in Notes. A job that failed is a result: see JobResult.Fault.
// A text without a result gives a *NoResultError.
func Parse(data []byte) (Output, error) {
	docs, text, truncated := split(data)
	lines := textLines(text)
	out, n, bad := lastResult(docs)
	if n < 0 {
		if out, ok := parseTerse(lines); ok {
			return out, nil
		}
		return Output{}, &NoResultError{Said: said(lines), Truncated: truncated, Malformed: bad}
	}
	out.Notes = append(diagnostics(lines), out.Notes...)
	if len(docs) > 1 {
		out.Notes = append(out.Notes, fmt.Sprintf("iotax: %d JSON documents (status-interval, or several runs); this is number %d", len(docs), n+1))
	}
	if truncated {
		out.Notes = append(out.Notes, "iotax: the output is truncated; this is the last complete JSON document")
	}
	if bad != nil {
		out.Notes = append(out.Notes, fmt.Sprintf("iotax: a later JSON document cannot be read: %v", bad))
	}
	return out, nil
}

// lastResult returns the last document that is a result, and its index, -1 if none is.
func lastResult(docs [][]byte) (out Output, n int, bad error) {
	for n := len(docs) - 1; n >= 0; n-- {
		out, ok, err := decode(docs[n])
		if ok {
			return out, n, bad
		}
		if bad == nil {
			bad = err
		}
	}
	return Output{}, -1, bad
}

// split separates complete JSON objects from the text around them in one pass. Truncated tells that a document of
// fio begins and does not end.
func split(data []byte) (docs, text [][]byte, truncated bool) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for {
		start := documentStart(data)
		if start < 0 {
			return docs, append(text, data), truncated
		}
		end, complete := documentEnd(data[start:])
		doc := data[start : start+end]
		if complete {
			docs, text = append(docs, doc), append(text, data[:start])
		} else if looksLikeFio(doc) {
			truncated = true
			text = append(text, data[:start])
		} else {
			text = append(text, data[:start+end])
		}
		data = data[start+end:]
	}
}

var firstKey = []byte(`"fio version"`)

// documentStart finds a { that opens a document: the first thing on its line, or followed by fio's first key.
func documentStart(data []byte) int {
	blank := true // nothing on this line yet
	for i, c := range data {
		switch c {
		case '\n':
			blank = true
		case ' ', '\t', '\r':
		case '{':
			if blank || startsFio(data[i:]) {
				return i
			}
		default:
			blank = false
		}
	}
	return -1
}

func startsFio(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(data[1:min(len(data), 64)], " \t\r\n"), firstKey)
}

func looksLikeFio(doc []byte) bool {
	return startsFio(doc) || bytes.Contains(doc, []byte(`"jobs"`)) || bytes.Contains(doc, []byte(`"client_stats"`))
}

// documentEnd returns the length of the JSON object that data begins with, and whether it is complete. An
// incomplete one ends where the next document of fio begins, or with the data.
func documentEnd(data []byte) (int, bool) {
	depth, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '\n':
			inString = false // no string of fio spans lines: this one was cut off
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{':
			if depth > 0 && startsFio(data[i:]) {
				return i, false
			}
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(data), false
}

// textLines returns the lines of the text that are not blank, trimmed.
func textLines(text [][]byte) []string {
	var lines []string
	for _, t := range text {
		for line := range strings.FieldsFuncSeq(string(t), func(r rune) bool { return r == '\n' || r == '\r' }) {
			if line = strings.TrimSpace(line); line != "" {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// diagnostics picks notes, warnings and errors out of fio's text, each once; the report of the normal format is not.
func diagnostics(lines []string) []string {
	var notes []string
	seen := map[string]bool{}
	for _, line := range lines {
		if !isDiagnostic(line) || seen[line] {
			continue
		}
		seen[line] = true
		if len(notes) == maxNotes {
			return append(notes, "iotax: more lines of this kind are left out")
		}
		notes = append(notes, line)
	}
	return notes
}

var signs = []string{"note:", "hint:", "warn", "error", "err=", "fail", "invalid", "unable", "cannot", "could not", "not supported", "verify", "bad ", "no such", "denied"}

func isDiagnostic(line string) bool {
	low := strings.ToLower(line)
	if strings.HasPrefix(low, "fio:") {
		return true
	}
	if strings.Contains(low, "err= 0:") || strings.HasPrefix(low, "errors    :") { // the normal format's own lines
		return false
	}
	for _, s := range signs {
		if strings.Contains(low, s) {
			return true
		}
	}
	return false
}

// said returns the diagnostics of a text without a result, else its first lines.
func said(lines []string) []string {
	for _, line := range lines {
		if strings.HasPrefix(line, "Run status group") {
			return []string{"this is fio's normal format; run it with --output-format=json+"}
		}
	}
	if d := diagnostics(lines); len(d) > 0 {
		return d
	}
	return lines[:min(len(lines), 3)]
}
