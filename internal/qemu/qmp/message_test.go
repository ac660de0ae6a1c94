package qmp

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	tests := []struct {
		name, line string
		check      func(message) bool
	}{
		{
			"greeting", `{"QMP": {"version": {"qemu": {"micro": 2, "minor": 1, "major": 9}, "package": "distro 1:9.1"}, "capabilities": ["oob"]}}`,
			func(m message) bool { return m.Greeting.version() == Version{9, 1, 2, "distro 1:9.1"} },
		},
		{"empty return", `{"return": {}, "id": 7}`, func(m message) bool { return *m.ID == 7 && string(m.Return) == "{}" }},
		{"list return", `{"id": 1, "return": [1, 2]}`, func(m message) bool { return string(m.Return) == "[1, 2]" }},
		{
			"error", `{"id": 3, "error": {"class": "GenericError", "desc": "no"}}`,
			func(m message) bool { return *m.Error == failure{"GenericError", "no"} },
		},
		{"error without id", `{"error": {"class": "GenericError", "desc": "JSON parse error"}}`, func(m message) bool { return m.ID == nil }},
		{
			"event", `{"timestamp": {"seconds": 10, "microseconds": 5}, "event": "STOP"}`,
			func(m message) bool {
				return cmp.Equal(m.event(), Event{Name: "STOP", Time: time.Unix(10, 5000).UTC()})
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := parse([]byte(tt.line))
			if err != nil {
				t.Fatal(err)
			}
			if !tt.check(m) {
				t.Errorf("parse(%s) = %+v", tt.line, m)
			}
		})
	}
}

func TestParseBad(t *testing.T) {
	for line, want := range map[string]string{
		`{`:                            "not a QMP message",
		`[]`:                           "not a QMP message",
		`{}`:                           "want one of QMP, return, error, event",
		`{"return": {}, "event": "A"}`: "want one of QMP, return, error, event",
		`{"return": {}, "id": "x"}`:    "not a QMP message",
		strings.Repeat("x", 1000):      "...",
	} {
		_, err := parse([]byte(line))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parse(%.40s) = %v, want an error with %q", line, err, want)
		}
		if err != nil && len(err.Error()) > 400 {
			t.Errorf("parse(%.40s): the error has %d bytes", line, len(err.Error()))
		}
	}
}

func TestReadLine(t *testing.T) {
	long := strings.Repeat("a", 40)
	in := bufio.NewReaderSize(strings.NewReader("one\r\n\n"+long+"\n"+long+long+"\n"), 16)
	for _, want := range []string{"one", "", long} {
		line, err := readLine(in, 64)
		if err != nil || string(line) != want {
			t.Fatalf("readLine = %q, %v; want %q", line, err, want)
		}
	}
	if _, err := readLine(in, 64); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a line over the limit: %v, want an error that is not EOF", err)
	}
}

func TestVersion(t *testing.T) {
	v := Version{Major: 8, Minor: 0, Micro: 4}
	if v.String() != "8.0.4" {
		t.Errorf("String = %q", v)
	}
	for _, tt := range []struct {
		major, minor int
		want         bool
	}{{7, 9, true}, {8, 0, true}, {8, 1, false}, {9, 0, false}} {
		if got := v.AtLeast(tt.major, tt.minor); got != tt.want {
			t.Errorf("%s.AtLeast(%d, %d) = %v", v, tt.major, tt.minor, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"QMP": {"version": {"qemu": {"micro": 0, "minor": 0, "major": 9}, "package": ""}, "capabilities": []}}`))
	f.Add([]byte(`{"return": null, "id": 18446744073709551615}`))
	f.Add([]byte(`{"event": "RESET", "data": {"guest": true}, "timestamp": {"seconds": -1, "microseconds": -1}}`))
	f.Add([]byte(`{"error": {}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := parse(line)
		if err != nil {
			return
		}
		c := &Client{greeted: make(chan Version, 1), pending: map[uint64]chan message{1: make(chan message, 1)}}
		_ = c.deliver(m) // any accepted message can be delivered without a panic or a block
	})
}
