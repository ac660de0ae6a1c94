package live

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/measure"
)

const (
	pause    = 125 * time.Millisecond // between two frames, at least
	tick     = time.Second            // of the countdown
	patience = time.Second            // of Close
)

// view is told of progress by some goroutines and written by one of its own, so that none of those waits for a
// terminal. Another one of its own computes the estimates.
type view struct {
	Options
	printer printer

	mu     sync.Mutex
	model  *model
	kept   []string // lines that wait to be written
	closed bool

	wake    chan struct{}         // something is there to be written
	blocks  chan measure.Progress // the latest one that ended a block
	quit    chan struct{}
	workers sync.WaitGroup
}

func start(o Options) *view {
	v := &view{
		Options: o, printer: lines{o.Out}, model: newModel(o.Experiment, !o.TTY),
		wake: make(chan struct{}, 1), blocks: make(chan measure.Progress, 1), quit: make(chan struct{}),
	}
	if o.TTY {
		v.printer = &screen{out: o.Out}
		v.workers.Go(v.estimate)
	}
	v.workers.Go(v.write)
	return v
}

func (v *view) Note(line string) {
	v.tell(func(*model, time.Time) []string { return []string{oneLine(line)} })
}

func (v *view) Stage(name string, done, total int64) {
	v.tell(func(m *model, now time.Time) []string { return m.setStage(name, done, total, now) })
}

func (v *view) Progress(p measure.Progress) {
	// The owner may append to its slices, which does not change what is seen through this copy of them.
	v.tell(func(m *model, now time.Time) []string { return m.setProgress(p, now) })
	if v.TTY && p.BlockEnded {
		select {
		case <-v.blocks: // an older one that has not been begun
		default:
		}
		select {
		case v.blocks <- p:
		default: // another goroutine was faster
		}
	}
}

// tell changes the model and has the change written.
func (v *view) tell(change func(*model, time.Time) (kept []string)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return
	}
	v.kept = append(v.kept, change(v.model, time.Now())...)
	if !v.TTY && len(v.kept) == 0 {
		return
	}
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

func (v *view) Close() {
	v.mu.Lock()
	if !v.closed {
		v.kept = append(v.kept, v.model.end(time.Now())...)
		close(v.quit)
	}
	v.closed = true
	v.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		v.workers.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(patience):
	}
}

// estimate computes the table of one block after the other.
func (v *view) estimate() {
	for {
		select {
		case <-v.quit:
			return
		case p := <-v.blocks:
			r := analyse.Estimates(p.Run, v.Experiment, p.Windows)
			v.tell(func(m *model, _ time.Time) []string { m.result = &r; return nil })
		}
	}
}

// write writes what there is to be written, at a calm pace, until the view is closed or Out is gone.
func (v *view) write() {
	var second <-chan time.Time
	resized := make(chan os.Signal, 1)
	if v.TTY {
		t := time.NewTicker(tick)
		defer t.Stop()
		second = t.C
		signal.Notify(resized, syscall.SIGWINCH)
		defer signal.Stop(resized)
	}
	for {
		select {
		case <-v.quit:
			kept, _ := v.take(0, 0)
			v.printer.print(kept, nil, v.columns()) // nobody is left to be told of an error
			return
		case <-v.wake:
		case <-second:
		case <-resized:
		}
		if v.draw() != nil {
			return // the terminal or the pipe is gone; whoever writes the result will say so
		}
		if v.TTY {
			select {
			case <-v.quit:
			case <-time.After(pause):
			}
		}
	}
}

// draw writes the lines to keep and, on a terminal, the live part as it is now.
func (v *view) draw() error {
	if !v.TTY {
		kept, _ := v.take(0, 0)
		return v.printer.print(kept, nil, 0)
	}
	columns := v.columns()
	kept, live := v.take(columns, v.rows()-1)
	return v.printer.print(kept, live, columns)
}

// take returns the lines that wait to be kept, and the live part for a terminal of that many columns and rows.
func (v *view) take(columns, rows int) (kept, live []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	kept, v.kept = v.kept, nil
	return kept, frame{v.model, painter(v.Color), columns, rows, time.Now()}.lines()
}

func (v *view) columns() int {
	if v.Width != nil {
		if n := v.Width(); n > 0 {
			return n
		}
	}
	return 80
}

// rows of the terminal, 24 where it cannot be asked.
func (v *view) rows() int {
	if f, ok := v.Out.(interface{ Fd() uintptr }); ok {
		if _, n, err := term.GetSize(f.Fd()); err == nil && n > 0 {
			return n
		}
	}
	return 24
}
