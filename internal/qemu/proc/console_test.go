package proc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConsole(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	tests := []struct {
		name   string
		writes []string
		lines  []string
		panic  string
	}{
		{"nothing", []string{""}, nil, ""},
		{"lines in pieces", []string{"on", "e\r\ntw", "o\n"}, []string{"one", "two"}, ""},
		{"last line without an end", []string{"one\ntwo"}, []string{"one", "two"}, ""},
		{"empty lines", []string{"\n\r\n \none\n\n"}, []string{"one"}, ""},
		{"no escapes", []string{"\x1b[2Jred\x07\tand\x00 bell\xff\n"}, []string{"[2Jred\tand bell\uFFFD"}, ""},
		{"a line too long", []string{long + "tail\n"}, []string{long, "tail"}, ""},
		{
			"panic",
			[]string{"[1.0] fine\n[2.0] Kernel panic - not syncing: no init\n"},
			[]string{"[1.0] fine", "[2.0] Kernel panic - not syncing: no init"},
			"[2.0] Kernel panic - not syncing: no init",
		},
		{
			"the first trouble is the cause",
			[]string{"Out of memory: Killed process 7 (fio)\nKernel panic - not syncing\n"},
			[]string{"Out of memory: Killed process 7 (fio)", "Kernel panic - not syncing"},
			"Out of memory: Killed process 7 (fio)",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var lines []string
			c := console{onLine: func(line string) { lines = append(lines, line) }}
			for _, w := range tt.writes {
				if n, err := c.Write([]byte(w)); n != len(w) || err != nil {
					t.Fatalf("Write = %d, %v", n, err)
				}
			}
			c.flush()
			if diff := cmp.Diff(tt.lines, lines); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
			if got := c.firstTrouble(); got != tt.panic {
				t.Errorf("panic = %q, want %q", got, tt.panic)
			}
			if want := strings.Join(append(tt.lines, ""), "\n"); c.text() != want {
				t.Errorf("text = %q, want %q", c.text(), want)
			}
		})
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var w tail
	for range 10 {
		w.Write([]byte(strings.Repeat("a", keep/8)))
	}
	w.Write([]byte("end"))
	if got := w.text(); len(got) != keep || !strings.HasSuffix(got, "aend") {
		t.Errorf("%d bytes kept, ending in %q", len(got), got[len(got)-4:])
	}
}

func FuzzConsole(f *testing.F) {
	f.Add([]byte("one\r\ntwo"), 3)
	f.Add([]byte("\x1b[0mKernel panic\n"), 1)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		if cut < 0 || cut > len(data) {
			return
		}
		c := console{onLine: func(line string) {
			if strings.ContainsAny(line, "\n\r\x1b") || len(line) > 3*maxLine {
				t.Errorf("line %q", line)
			}
		}}
		c.Write(data[:cut])
		c.Write(data[cut:])
		c.flush()
		if len(c.part) != 0 {
			t.Errorf("%d bytes left after flush", len(c.part))
		}
	})
}
