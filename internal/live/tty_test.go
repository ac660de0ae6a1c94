package live

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"

	"github.com/iotax/iotax/internal/measure"
)

// openPTY returns the side that a program writes to, and what has arrived on the other one, piece by piece.
func openPTY(t *testing.T, columns, rows uint16) (program *os.File, arrives <-chan string) {
	t.Helper()
	screen, program, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(program, &pty.Winsize{Cols: columns, Rows: rows}); err != nil {
		t.Fatal(err)
	}
	pieces, over := make(chan string, 1000), make(chan struct{})
	go func() {
		defer close(over)
		defer close(pieces)
		buffer := make([]byte, 64<<10)
		for {
			n, err := screen.Read(buffer)
			if n > 0 {
				pieces <- string(buffer[:n])
			}
			if err != nil {
				return // EIO: the other side is closed
			}
		}
	}()
	t.Cleanup(func() {
		program.Close()
		<-over
		screen.Close()
	})
	return program, pieces
}

// await collects what arrives until it holds what is wanted.
func await(t *testing.T, arrives <-chan string, want string) string {
	t.Helper()
	got := ""
	missing := func() { t.Fatalf("%q never arrived, the last was %q", want, got[max(0, len(got)-3000):]) }
	for limit := time.After(30 * time.Second); !strings.Contains(got, want); {
		select {
		case piece, ok := <-arrives:
			if !ok {
				missing()
			}
			got += piece
		case <-limit:
			missing()
		}
	}
	return got
}

func TestTerminal(t *testing.T) {
	exp := preset(t, "default")
	program, arrives := openPTY(t, 80, 24)
	before, err := term.GetState(program.Fd())
	if err != nil {
		t.Fatal(err)
	}
	columns := func() int { n, _, _ := term.GetSize(program.Fd()); return n }
	v := New(Options{Out: program, TTY: true, Width: columns, Color: true, Experiment: exp})

	v.Stage("filling 12 volumes", 3<<30, 6<<30)
	await(t, arrives, "3.0 GiB of 6.0 GiB")
	v.Note("boot 1 of 2: agent ready after 2.4 s")
	p := progress(exp, 5, 92)
	v.Progress(p)
	await(t, arrives, "window  93 of 168")
	p.Windows, p.BlockEnded = rounds(exp, 6), true
	v.Progress(p)
	got := await(t, arrives, " ± ")
	got += await(t, arrives, "+4 more workloads")
	for _, want := range []string{"boot 1 of 2", "round 5 of ~7", "virtio-blk + iothread, 4k rand read q1", "host again (control)", " IOPS", "~"} {
		if !strings.Contains(ansi.Strip(got), want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}

	if err := pty.Setsize(program, &pty.Winsize{Cols: 160, Rows: 24}); err != nil {
		t.Fatal(err)
	}
	await(t, arrives, "4k sync") // the last workload fits now

	during, err := term.GetState(program.Fd())
	if err != nil {
		t.Fatal(err)
	}
	v.Close()
	io.WriteString(program, "the report")
	got = await(t, arrives, "the report")
	if want := "\x1b[J\x1b[?25h\x1b[?2026lthe report"; !strings.HasSuffix(got, want) {
		t.Errorf("the terminal got %q at the end, want %q", got[max(0, len(got)-100):], want)
	}
	if *during != *before {
		t.Errorf("the modes of the terminal were changed: %v, were %v", *during, *before)
	}
}

// The live part fits below the last row of a terminal that is less than high enough for it.
func TestLowTerminal(t *testing.T) {
	exp := preset(t, "default")
	program, arrives := openPTY(t, 80, 10)
	v := New(Options{Out: program, TTY: true, Experiment: exp})
	defer v.Close()
	v.Progress(measure.Progress{Boots: 1, Note: measure.Booting, Planned: 5})
	got := await(t, arrives, frameEnd)
	if n := strings.Count(got, "\r\n"); n != 9 {
		t.Errorf("%d lines on 10 rows, want 9", n)
	}
	if !strings.Contains(got, "more stacks") {
		t.Errorf("what is left out is not said: %q", got)
	}
}
