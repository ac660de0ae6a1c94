package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
)

// port is a console whose two directions are apart.
type port struct {
	io.Reader
	io.Writer
}

func (port) Close() error { return nil }

// line is what a message looks like on a console.
func line(t testing.TB, m Message) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(NewConsole(port{Writer: &out}, io.Discard), m); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestConsoleLine(t *testing.T) {
	got := line(t, Message{ID: 15, Op: OpRead, Body: json.RawMessage(`{"path":"/dev/\u001e\n"}`)})
	const want = "\x1eedbff684 {\"id\":15,\"op\":\"read\",\"body\":{\"path\":\"/dev/\\u001e\\n\"}}\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, r := range got[1 : len(got)-1] {
		if r < ' ' {
			t.Errorf("the control character %q would mean something to a terminal", r)
		}
	}
	if _, err := NewConsole(port{Writer: io.Discard}, io.Discard).Write([]byte("\x00\x00\x00\x09part")); err == nil {
		t.Error("a part of a frame was taken")
	}
}

// TestConsoleAmongOthers has a kernel that speaks before, between and after the records.
func TestConsoleAmongOthers(t *testing.T) {
	sent := []Message{
		{Op: OpHello, Body: json.RawMessage(`{"cpus":2}`)},
		{ID: 7, Body: json.RawMessage(`{"data":"` + strings.Repeat("é", 9000) + `"}`)},
		{ID: 8, Error: "no such file"},
	}
	stream := "[    0.1] Linux\r\n" + line(t, sent[0]) + "[    2.0] half a line" + line(t, sent[1]) + line(t, sent[2]) + "\r\nKernel panic\r\n"
	for name, reader := range map[string]io.Reader{
		"at once":       strings.NewReader(stream),
		"byte by byte":  iotest.OneByteReader(strings.NewReader(stream)),
		"end with data": iotest.DataErrReader(strings.NewReader(stream)),
	} {
		t.Run(name, func(t *testing.T) {
			var others bytes.Buffer
			c := NewConsole(port{Reader: reader}, &others)
			for _, want := range sent {
				m, err := Read(c)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want, m); d != "" {
					t.Error(d)
				}
			}
			if _, err := Read(c); err != io.EOF {
				t.Errorf("after the last record: %v", err)
			}
			const want = "[    0.1] Linux\r\n[    2.0] half a line\r\nKernel panic\r\n"
			if others.String() != want {
				t.Errorf("others said %q, want %q", others.String(), want)
			}
		})
	}
}

func TestBrokenRecords(t *testing.T) {
	whole := line(t, Message{ID: 1, Op: OpDisks})
	for name, stream := range map[string]string{
		"kernel in the middle": whole[:20] + "[ 9.9] Kernel panic\r\n" + whole[20:],
		"a byte lost":          whole[:20] + whole[21:],
		"no sum":               "\x1e{}\n",
		"empty":                "\x1e\n",
		"another record in it": whole[:20] + whole,
		"not JSON":             "\x1ecbf43926 123456789x\n",
	} {
		t.Run(name, func(t *testing.T) {
			var others bytes.Buffer
			_, err := Read(NewConsole(port{Reader: strings.NewReader(stream)}, &others))
			if !errors.Is(err, ErrFrame) {
				t.Errorf("got %v, want ErrFrame", err)
			}
			if strings.Contains(stream, "panic") != strings.Contains(others.String(), "panic") {
				t.Errorf("others said %q", others.String())
			}
		})
	}
}

func FuzzConsole(f *testing.F) {
	f.Add([]byte("boot\r\n"), []byte(line(f, Message{ID: 1, Op: OpDisks})))
	f.Add([]byte("\x1e"), []byte("x\n"))
	f.Fuzz(func(t *testing.T, before, stream []byte) {
		c := NewConsole(port{Reader: bytes.NewReader(append(before, stream...))}, io.Discard)
		for {
			if _, err := Read(c); err != nil {
				break
			}
		}
		// Whatever was said before, as long as it starts no record, the next record is read.
		before = bytes.ReplaceAll(before, []byte{recordStart}, nil)
		want := Message{ID: 3, Error: string(bytes.ToValidUTF8(stream, nil))}
		c = NewConsole(port{Reader: io.MultiReader(bytes.NewReader(before), strings.NewReader(line(t, want)))}, io.Discard)
		got, err := Read(c)
		if err != nil || got.Error != want.Error {
			t.Fatalf("%+v, %v", got, err)
		}
	})
}

// deaf hears nothing.
type deaf struct{ err error }

func (d deaf) Write([]byte) (int, error) { return 0, d.err }

func TestListenerEndsThePort(t *testing.T) {
	panicked := errors.New("Kernel panic")
	whole := line(t, Message{ID: 1, Op: OpDisks})
	c := NewConsole(port{Reader: strings.NewReader(whole + "Kernel panic\r\n" + whole)}, deaf{panicked})
	if _, err := Read(c); err != nil {
		t.Errorf("what came before is lost: %v", err)
	}
	if _, err := Read(c); !errors.Is(err, panicked) {
		t.Errorf("got %v, want the listener's error", err)
	}
}

// A console that is closed ends the Read under way: nobody would hear that the guest is gone.
func TestCloseEndsRead(t *testing.T) {
	host, guest, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	defer host.Close()
	c, err := OpenConsole(guest.Name(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	guest.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := Read(c)
		ended <- err
	}()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, os.ErrClosed) {
		t.Errorf("Read ended with %v", err)
	}
}
