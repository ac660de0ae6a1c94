// Package measure carries out a plan, window by window, into a sink, and decides when enough is known.
// It knows neither guests nor databases: an Executor runs windows and a Sink keeps them.
package measure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// ErrGuestLost is returned by a Session whose guest can run no further window: it panicked, went silent or was killed.
var ErrGuestLost = errors.New("the guest is lost")

// Executor starts guests.
type Executor interface {
	// Boot starts the guest of a group with all its volumes attached and checked. Reason is "" for a planned boot.
	Boot(ctx context.Context, b plan.Boot, reason string) (Session, error)
}

// Session is one running guest beside its host.
type Session interface {
	// Window runs one window on the host or in the guest. A window that failed by itself comes back with its
	// status and reason and a nil error. An error that is ErrGuestLost asks for a new boot, in which the window is tried
	// again, unless it comes with a stalled window, which then stands. Any other error ends the run.
	Window(ctx context.Context, w plan.Window, load spec.Workload) (record.Window, error)
	// Facts returns what was found out of the boot and its stacks.
	Facts() (record.Boot, []record.Stack)
	// Close ends the guest and undoes what its boot made. It must not take longer than two seconds.
	Close() error
}

// Sink keeps what was measured. Both calls return when it is safe from a crash of this process.
type Sink interface {
	SaveWindow(w record.Window) error
	UpdateRun(r record.Run) error
}

// Config is one run. Done holds the windows of an interrupted run that is resumed.
type Config struct {
	Plan     plan.Plan
	Run      record.Run
	Done     []record.Window
	Executor Executor
	Sink     Sink
	Observe  func(Progress) // may be nil; called from the measuring goroutine, must not block
	Now      func() time.Time
}

// Booting is the note of a guest's start.
const Booting = "booting"

// Progress is what a live view shows.
type Progress struct {
	Boot, Boots   int
	Round, Rounds int // counted rounds of the boot, the one under way included, and how many are expected
	Done, Planned int // windows that have ended, and how many are expected in all
	Cell          plan.Key
	Discard       bool          // a window of the priming round
	Left          time.Duration // at most, all boots together
	Run           record.Run
	Windows       []record.Window // all so far; not to be changed
	BlockEnded    bool            // estimates may have changed
	Note          string          // something worth a line: a boot, a lost guest
}

// Run carries out the plan and returns the run as it ended: complete, or partial with the reason. An error is
// returned beside it when something other than time or the user ended it.
func Run(ctx context.Context, c Config) (record.Run, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	r := &runner{Config: c, cells: map[plan.Key][]int{}, rates: map[string]float64{}, lost: map[string]int{}, dead: map[string]string{}}
	for _, w := range c.Done {
		r.add(w)
	}
	r.stopping, r.workloads = c.Plan.Experiment.Stopping(), map[string]spec.Workload{}
	for _, w := range c.Plan.Experiment.Workloads {
		r.workloads[w.Name] = w
	}
	r.Config.Run.Status, r.Config.Run.Reason = record.Running, ""
	err := r.boots(ctx)
	r.finish(ctx, err)
	if saveErr := r.Sink.UpdateRun(r.Config.Run); saveErr != nil {
		err = errors.Join(err, fmt.Errorf("the end of the run could not be stored: %w", saveErr))
	}
	return r.Config.Run, err
}

type runner struct {
	Config
	stopping  spec.Stopping
	workloads map[string]spec.Workload
	windows   []record.Window
	cells     map[plan.Key][]int // where in windows those of a cell are: a long run looks for them after every block
	rates     map[string]float64 // what the windows of held loads were first held to, by workload
	lost      map[string]int     // guests lost under a stack
	dead      map[string]string  // stacks that are measured no more, with the reason
	absent    map[string]string  // stacks that the boot under way cannot offer, with the reason
	reboots   int
	round     int // next round's number
	at        Progress
}

func (r *runner) finish(ctx context.Context, err error) {
	run := &r.Config.Run
	run.Ended = r.Now().UTC()
	switch {
	case ctx.Err() != nil:
		run.Status, run.Reason = record.Partial, "interrupted"
	case err != nil:
		run.Status, run.Reason = record.Partial, err.Error()
	default:
		run.Status = record.Complete
	}
}

// boots goes through the boots of the plan. A resumed run goes on in the first boot that had no time to finish.
func (r *runner) boots(ctx context.Context) error {
	first := 0
	reason := ""
	if n := len(r.windows); n > 0 {
		last := r.windows[n-1]
		first, r.round, reason = last.Boot, last.Round+1, "resumed"
	}
	for _, b := range r.Plan.Boots {
		if b.Index < first {
			continue
		}
		if err := r.boot(ctx, b, reason); err != nil {
			return err
		}
		reason = ""
	}
	return nil
}
