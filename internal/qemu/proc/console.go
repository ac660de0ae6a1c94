package proc

import (
	"bytes"
	"strings"
	"sync"
	"unicode"
)

const (
	keep    = 64 << 10 // bytes of output that are remembered
	maxLine = 4 << 10  // bytes of a console line; a longer one is cut into several
)

// troubles are the beginnings of what Linux says when it cannot go on as it should.
var troubles = []string{"Kernel panic", "Out of memory", "BUG: ", "Oops: "}

// tail is a writer that remembers the last bytes written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, b...)
	if over := len(t.data) - keep; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(b), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data)
}

// console cuts what is written to it into lines, remembers the last of them, and looks for trouble in them.
type console struct {
	onLine func(string)
	past   tail
	part   []byte // the line that has no end yet; only the writer touches it

	mu      sync.Mutex
	trouble string
}

func (c *console) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		line, rest, ended := bytes.Cut(b, []byte("\n"))
		if room := maxLine - len(c.part); len(line) > room {
			line, rest, ended = b[:room], b[room:], true
		}
		c.part = append(c.part, line...)
		if ended {
			c.flush()
		}
		b = rest
	}
	return n, nil
}

// flush ends the line under way, if there is one.
func (c *console) flush() {
	line := clean(c.part)
	c.part = c.part[:0]
	if line == "" {
		return
	}
	c.past.Write([]byte(line + "\n"))
	for _, t := range troubles {
		if strings.Contains(line, t) {
			c.mu.Lock()
			if c.trouble == "" {
				c.trouble = line
			}
			c.mu.Unlock()
			break
		}
	}
	if c.onLine != nil {
		c.onLine(line)
	}
}

func (c *console) text() string { return c.past.text() }

func (c *console) firstTrouble() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trouble
}

// clean drops what would disturb a terminal on which the line is shown.
func clean(line []byte) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, string(line)))
}
