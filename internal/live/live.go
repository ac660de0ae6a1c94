// Package live shows the progress of a run: a few lines that are redrawn at the bottom of a terminal, and
// plain lines, one for each thing that ended, where there is none.
//
// It draws by itself instead of through bubbletea, for the sake of what can happen to a run that takes minutes.
// Bubbletea hides the cursor and, to read keys, puts the terminal in raw mode. Tried with version 2.0.9: kill -9
// leaves the cursor hidden; a panic in a goroutine that is not its own leaves the shell in raw mode; a run in the
// background is stopped by SIGTTOU. Here no mode of the terminal outlives a frame: each is one write that ends with
// the cursor shown below the live part, and Ctrl-C stays the signal that it is. Both ways
// take under 0.5 % of the CPU that the measuring shares with them; a frame costs 0.2 ms here (BenchmarkFrame).
package live

import (
	"io"

	"github.com/iotax/iotax/internal/measure"
	"github.com/iotax/iotax/internal/spec"
)

// Options say where the progress goes and what is being run.
type Options struct {
	Out        io.Writer
	TTY        bool       // Out is a terminal that understands escape sequences: not with TERM=dumb
	Width      func() int // columns of the terminal, asked before each frame; nil stands for 80
	Color      bool       // whether colours may be written; NO_COLOR is the caller's to respect
	Quiet      bool       // write nothing at all
	Experiment spec.Experiment
}

// View is told of the progress of one run. Its methods may be called from several goroutines, never block on the
// terminal, and do nothing after Close.
type View interface {
	// Note keeps a line above the live part: "boot 1 of 2: agent ready after 2.4 s".
	Note(line string)
	// Stage tells how far a step of preparation is, in bytes: "filling 12 volumes". It ends when done reaches
	// total, or when another stage or the measuring begins. A total that is not known is 0.
	Stage(name string, done, total int64)
	// Progress tells where the measuring stands. It fits measure.Config.Observe.
	Progress(p measure.Progress)
	// Close ends the live part and takes it off the terminal; the lines that were kept stay. It waits until all
	// is written, but only a second for a terminal or a pipe that takes nothing.
	Close()
}

// New starts a view. Close must be called, by defer so that a panic does not leave its lines there.
func New(o Options) View {
	if o.Quiet {
		return silent{}
	}
	return start(o)
}

// silent is the view of --quiet.
type silent struct{}

func (silent) Note(string)                {}
func (silent) Stage(string, int64, int64) {}
func (silent) Progress(measure.Progress)  {}
func (silent) Close()                     {}
