package live

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iotax/iotax/internal/measure"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/spec"
)

// tell feeds a view with a short run: two boots of two rounds, a guest lost in the first.
func tell(v View, exp spec.Experiment) {
	v.Note("unpacking the guest kernel")
	for done := range int64(5) {
		v.Stage("filling 2 volumes", done<<28, 1<<30)
		time.Sleep(10 * time.Second)
	}
	n := 0
	for boot := range 2 {
		v.Progress(measure.Progress{Boots: 2, Boot: boot, Done: n, Planned: 24, Note: booting})
		time.Sleep(2400 * time.Millisecond)
		v.Note("agent ready after 2.4 s")
		for round := range 3 {
			for _, load := range exp.Workloads {
				p := measure.Progress{
					Boots: 2, Boot: boot, Round: round, Rounds: 2, Done: n, Planned: 24, Discard: round == 0,
					Left: time.Duration(24-n) * time.Second, Cell: plan.Key{Stack: spec.Host, Workload: load.Name},
				}
				v.Progress(p)
				if n == 9 {
					v.Progress(measure.Progress{Boots: 2, Done: n, Planned: 24, Note: "guest lost: it went silent"})
					v.Progress(measure.Progress{Boots: 2, Done: n, Planned: 24, Note: booting})
					v.Progress(p)
				}
				time.Sleep(time.Second)
				n++
				if round > 0 {
					v.Progress(measure.Progress{Boots: 2, Round: round, Done: n, Planned: 24, BlockEnded: true, Windows: rounds(exp, round+1)})
				}
			}
		}
	}
}

func TestPlain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exp := preset(t, "quick")
		var out bytes.Buffer
		v := New(Options{Out: &out, Color: true, Experiment: exp})
		tell(v, exp)
		v.Close()
		checkGolden(t, "plain", out.String())
	})
}

func TestQuiet(t *testing.T) {
	for _, tty := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			exp := preset(t, "quick")
			var out bytes.Buffer
			v := New(Options{Out: &out, TTY: tty, Quiet: true, Experiment: exp})
			tell(v, exp)
			v.Close()
			if out.Len() > 0 {
				t.Errorf("quiet, TTY %v, wrote %q", tty, out.String())
			}
		})
	}
}

// counting is a terminal that counts frames.
type counting struct {
	mu     sync.Mutex
	text   bytes.Buffer
	frames int
}

func (c *counting) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frames++
	return c.text.Write(p)
}

// shown returns what was written so far.
func (c *counting) shown() (text string, frames int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String(), c.frames
}

func TestCalmUnderAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exp := preset(t, "quick")
		out := &counting{}
		v := New(Options{Out: out, TTY: true, Experiment: exp})
		for i := range 10_000 {
			v.Stage("filling", int64(i), 10_000)
			time.Sleep(time.Millisecond)
		}
		v.Close()
		if _, frames := out.shown(); frames < 70 || frames > 82 {
			t.Errorf("%d frames in ten seconds, want about eight a second", frames)
		}
	})
}

func TestNothingIsDrawnTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &counting{}
		v := New(Options{Out: out, TTY: true, Experiment: preset(t, "quick")})
		v.Stage("fetching", 1, 0)
		time.Sleep(time.Minute)
		if _, frames := out.shown(); frames != 1 {
			t.Errorf("%d frames of a picture that did not change", frames)
		}
		v.Close()
	})
}

func TestTerminalEndsClean(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exp := preset(t, "quick")
		out := &counting{}
		v := New(Options{Out: out, TTY: true, Experiment: exp})
		tell(v, exp)
		time.Sleep(time.Second)
		v.Close()
		v.Close()
		got, _ := out.shown()
		if !strings.HasSuffix(got, frameEnd) {
			t.Errorf("the end is %q", got[max(0, len(got)-100):])
		}
		for _, want := range []string{
			"round 2 of ~2", "host again (control)", " IOPS", "boot 1 of 2: guest lost: it went silent\r\n", "filling 2 volumes: 1.0 GiB in 40 s\r\n",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%q was never shown", want)
			}
		}
		if strings.Contains(got, "\x1b[1m") {
			t.Error("bold although colours are off")
		}
		v.Note("too late")
		v.Stage("too late", 1, 1)
		v.Progress(measure.Progress{Boots: 1, Note: "too late", BlockEnded: true})
		time.Sleep(time.Minute)
		if later, _ := out.shown(); later != got {
			t.Errorf("written after the end: %q", later[len(got):])
		}
	})
}

func TestPanicLeavesACleanTerminal(t *testing.T) {
	out := &counting{}
	func() {
		defer func() { recover() }()
		v := New(Options{Out: out, TTY: true, Experiment: preset(t, "quick")})
		defer v.Close()
		v.Note("a fact")
		panic("a bug of the measuring")
	}()
	if got, _ := out.shown(); !strings.Contains(got, "a fact\r\n") || !strings.HasSuffix(got, frameEnd) {
		t.Errorf("%q", got)
	}
}

// stuck is a pipe that nobody reads, until it is released.
type stuck struct{ release chan struct{} }

func (s stuck) Write(p []byte) (int, error) { <-s.release; return len(p), nil }

func TestNobodyWaitsForAStuckReader(t *testing.T) {
	for _, tty := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			exp := preset(t, "quick")
			out := stuck{make(chan struct{})}
			v := New(Options{Out: out, TTY: tty, Experiment: exp})
			began := time.Now()
			v.Note("a fact")
			synctest.Wait() // the write has begun
			for i := range 1000 {
				v.Note("another")
				p := progress(exp, 1, i)
				p.BlockEnded = true
				v.Progress(p)
			}
			if waited := time.Since(began); waited != 0 {
				t.Errorf("TTY %v: telling took %v", tty, waited)
			}
			v.Close()
			if waited := time.Since(began); waited != patience {
				t.Errorf("TTY %v: closing took %v, want %v", tty, waited, patience)
			}
			close(out.release)
		})
	}
}

func TestGoneReaderIsWrittenToOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exp := preset(t, "quick")
		out := &gone{}
		v := New(Options{Out: out, TTY: true, Experiment: exp})
		tell(v, exp)
		v.Close()
		if out.writes != 1 {
			t.Errorf("%d writes to a terminal that is gone", out.writes)
		}
	})
}

// The view is told from several goroutines while the owner of the windows goes on appending to them.
func TestManyTellers(t *testing.T) {
	exp := preset(t, "quick")
	v := New(Options{Out: &counting{}, TTY: true, Color: true, Experiment: exp})
	all := rounds(exp, 4)
	var tellers sync.WaitGroup
	tellers.Go(func() {
		windows := all[: 0 : len(all)/2]
		for i, w := range all {
			windows = append(windows, w)
			p := progress(exp, 1, i)
			p.Windows, p.BlockEnded = windows, i%8 == 7
			v.Progress(p)
		}
	})
	tellers.Go(func() {
		for i := range int64(500) {
			v.Stage("filling", i, 500)
		}
	})
	tellers.Go(func() {
		for range 100 {
			v.Note("a fact")
		}
	})
	tellers.Wait()
	v.Close()
}
