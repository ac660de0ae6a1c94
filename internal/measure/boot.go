package measure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/record"
)

// Limits of patience with guests that die: a stack that kills two is measured no more, and a run that loses
// many ends, because its host is not fit.
const (
	lossesPerStack = 2
	rebootsPerRun  = 8
)

// boot measures rounds in one start of the guest until all is decided or the boot's time is up.
func (r *runner) boot(ctx context.Context, b plan.Boot, reason string) error {
	spent := r.spent(b.Index)
	if spent >= b.Budget {
		return nil // it was cut after its time was up
	}
	begun := r.Now()
	session, err := r.start(ctx, b, reason)
	if err != nil {
		return err
	}
	// The budget holds the start as long as one was planned to take: a slower one is not to cost rounds.
	late := max(r.Now().Sub(begun)-plan.BootTime, 0)
	g := &guestRun{runner: r, boot: b, session: session, end: begun.Add(b.Budget - spent + late)}
	defer g.close()
	if len(r.absent) == len(r.Plan.Groups[b.Group].Stacks) {
		return nil // the host alone is no comparison
	}
	if err := g.prime(ctx); err != nil {
		return err
	}
	r.warnUnheld(b)
	for k := r.counted(b.Index) + 1; ; k++ {
		windows := r.Plan.Round(b.Index, k, r.round, func(workload string) bool { return r.enough(b, workload) })
		if len(windows) == 0 {
			return nil
		}
		r.round++
		r.hold(b, windows)
		ended, err := g.blocks(ctx, windows)
		if err != nil {
			return err
		}
		if ended {
			return nil
		}
	}
}

// start boots a guest and notes what was found out of it.
func (r *runner) start(ctx context.Context, b plan.Boot, reason string) (Session, error) {
	r.observe(func(p *Progress) { p.Boot, p.Note = b.Index, Booting; p.Cell = plan.Key{} })
	session, err := r.Executor.Boot(ctx, b, reason)
	if err != nil {
		return nil, err
	}
	boot, stacks := session.Facts()
	run := &r.Config.Run
	run.Host.BootSeconds = append(run.Host.BootSeconds, boot)
	run.Stacks = mergeStacks(run.Stacks, stacks)
	r.absent = map[string]string{}
	for _, s := range stacks {
		if s.Unavailable != "" {
			r.absent[s.Name] = s.Unavailable
			if slices.ContainsFunc(run.Stacks, func(o record.Stack) bool { return o.Name == s.Name && offered(o) }) {
				run.Warnings = append(run.Warnings, fmt.Sprintf("%s could not be offered in boot %d: %s", s.Name, b.Index+1, s.Unavailable))
			}
		}
	}
	if err := r.Sink.UpdateRun(*run); err != nil {
		session.Close()
		return nil, err
	}
	return session, nil
}

// mergeStacks replaces what was known of a stack by what its latest boot found. One that an earlier boot offered, and this
// one does not, stays as it was: it has numbers.
func mergeStacks(old, found []record.Stack) []record.Stack {
	out := append([]record.Stack(nil), old...)
next:
	for _, s := range found {
		for i := range out {
			if out[i].Name == s.Name {
				if s.Unavailable == "" || !offered(out[i]) {
					out[i] = s
				}
				continue next
			}
		}
		out = append(out, s)
	}
	return out
}

// offered reports whether a boot had the stack and looked at it.
func offered(s record.Stack) bool { return s.Unavailable == "" && len(s.Effective) > 0 }

// guestRun is the part of a run that happens in one planned boot; its session is replaced when the guest is lost.
type guestRun struct {
	*runner
	boot    plan.Boot
	session Session
	end     time.Time
}

// close ends the guest, once.
func (g *guestRun) close() {
	if g.session != nil {
		g.session.Close()
		g.session = nil
	}
}

// prime visits every cell once, briefly, and counts nothing: emulation translates its code, caches of the
// device fill, and the first time of everything is over.
func (g *guestRun) prime(ctx context.Context) error {
	windows := g.Plan.Round(g.boot.Index, 0, g.round, nil)
	g.round++
	return g.windowsOf(ctx, windows)
}

func (g *guestRun) windowsOf(ctx context.Context, windows []plan.Window) error {
	for _, w := range windows {
		if err := g.window(ctx, w, len(windows)); err != nil {
			return err
		}
	}
	return nil
}

// blocks runs a round block by block (a block is one workload under all stacks, so that a cell and its
// baseline are close in time) and reports whether the boot's time is up. A block that would not end in time is not begun.
func (g *guestRun) blocks(ctx context.Context, windows []plan.Window) (ended bool, err error) {
	for len(windows) > 0 {
		n := 1
		for n < len(windows) && windows[n].Workload == windows[0].Workload {
			n++
		}
		if left := g.end.Sub(g.Now()); left < g.cost(windows[:n]) {
			return true, nil
		}
		for _, w := range windows[:n] {
			if err := g.window(ctx, w, len(windows)); err != nil {
				return false, err
			}
		}
		windows = windows[n:]
		g.observe(func(p *Progress) { p.BlockEnded = true })
	}
	return false, nil
}

// cost is what windows will take, judged by what the last ones took.
func (g *guestRun) cost(windows []plan.Window) time.Duration {
	var took, timed int64
	for i := len(g.windows) - 1; i >= 0 && i >= len(g.windows)-50; i-- {
		took += g.windows[i].Elapsed
		timed += g.windows[i].Timed
	}
	overhead := 400 * time.Millisecond
	if n := min(len(g.windows), 50); n > 0 && took > timed {
		overhead = time.Duration((took - timed) / int64(n))
	}
	var sum time.Duration
	for _, w := range windows {
		sum += w.Runtime + g.Plan.Experiment.Ramp + overhead
	}
	return sum
}

// window runs one window and stores it. A lost guest is started anew and the window tried again.
func (g *guestRun) window(ctx context.Context, w plan.Window, inRound int) error {
	for {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		g.observe(func(p *Progress) {
			p.Cell, p.Discard, p.Left = w.Key(), w.Discard, g.left(g.boot.Index, g.end)
			p.Round = g.counted(g.boot.Index)
			if !w.Discard && !g.begun(w.Round) {
				p.Round++
			}
		})
		if why, ok := g.out(w.Stack); ok {
			return g.keep(record.Window{Status: record.Failed, Reason: why, Started: g.Now().UTC()}, w)
		}
		done, err := g.session.Window(ctx, w, g.workloads[w.Workload])
		switch {
		case err == nil:
			return g.keep(done, w)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !errors.Is(err, ErrGuestLost):
			return fmt.Errorf("%s under %s: %w", w.Workload, w.Stack, err)
		case done.Status == record.Stalled: // that is what there is to know of this window
			if keepErr := g.keep(done, w); keepErr != nil {
				return keepErr
			}
			return g.replace(ctx, w, err)
		}
		if err := g.replace(ctx, w, err); err != nil {
			return err
		}
	}
}

// out reports why a stack is not measured: in this boot, or any more.
func (r *runner) out(stack string) (why string, is bool) {
	if why, is = r.dead[stack]; is {
		return why, true
	}
	why, is = r.absent[stack]
	return why, is
}

// replace starts a new guest in the place of a lost one, and primes it as any other.
func (g *guestRun) replace(ctx context.Context, w plan.Window, lost error) error {
	g.close()
	g.reboots++
	g.lost[w.Stack]++
	if g.lost[w.Stack] >= lossesPerStack {
		g.dead[w.Stack] = fmt.Sprintf("the guest was lost %d times under this stack, last: %v", g.lost[w.Stack], lost)
	}
	g.Config.Run.Warnings = append(g.Config.Run.Warnings,
		fmt.Sprintf("the guest was started anew in round %d, under %s with %s: %v", w.Round, w.Stack, w.Workload, lost))
	g.observe(func(p *Progress) { p.Note = "guest lost: " + lost.Error() })
	if g.reboots > rebootsPerRun {
		return fmt.Errorf("%d guests were lost, the last one: %w", g.reboots, lost)
	}
	session, err := g.start(ctx, g.boot, lost.Error())
	if err != nil {
		return err
	}
	g.session = session
	return g.prime(ctx)
}

// keep stores a window before anything else happens.
func (g *guestRun) keep(done record.Window, w plan.Window) error {
	done.Boot, done.Round, done.Seq, done.Seed, done.Discard = w.Boot, w.Round, w.Seq, w.Seed, w.Discard
	done.Stack, done.Workload = w.Stack, w.Workload
	done.Evidence.Rate = w.Rate
	if err := g.Sink.SaveWindow(done); err != nil {
		return fmt.Errorf("a window could not be stored: %w", err)
	}
	done.Raw = nil // kept by the sink; thousands of them need not stay in memory
	g.add(done)
	return nil
}
