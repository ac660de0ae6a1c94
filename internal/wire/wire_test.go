package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRoundTrip(t *testing.T) {
	var stream bytes.Buffer
	sent := []Message{
		{Op: OpHello, Body: json.RawMessage(`{"cpus":2}`)},
		{ID: 7, Op: OpRead, Body: json.RawMessage(`{"path":"/proc/cmdline"}`)},
		{ID: 7, Error: "no such file"},
	}
	for _, m := range sent {
		if err := Write(&stream, m); err != nil {
			t.Fatal(err)
		}
	}
	var got []Message
	for {
		m, err := Read(&stream)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, m)
	}
	if d := cmp.Diff(sent, got); d != "" {
		t.Error(d)
	}
}

func TestBrokenStreams(t *testing.T) {
	for name, stream := range map[string]string{
		"length cut":        "\x00\x00",
		"no length":         "\x00\x00\x00\x00",
		"absurd length":     "\xff\xff\xff\xff{}",
		"body cut":          "\x00\x00\x00\x09{\"id\":1",
		"body not JSON":     "\x00\x00\x00\x03abc",
		"body another type": "\x00\x00\x00\x02[]",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Read(strings.NewReader(stream)); !errors.Is(err, ErrFrame) {
				t.Errorf("got %v, want ErrFrame", err)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	if err := Write(&b, Message{ID: 1, Op: OpDisks}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("\x00\x00\x00\x02{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := Write(&again, m); err != nil {
			t.Fatalf("a message that was read cannot be written: %v", err)
		}
		if _, err := Read(&again); err != nil {
			t.Fatalf("and not read again: %v", err)
		}
	})
}
