package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/experiment"
	"github.com/iotax/iotax/internal/live"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/store"
)

// runMeasure carries out checked options: what to measure is read, the host is looked at, and only when no
// fault was found anything is touched.
func (a *app) runMeasure(ctx context.Context, o runOptions) error {
	if o.Plan {
		return a.plan(o)
	}
	q, err := a.request(o)
	if err != nil {
		return err
	}
	if o.Resume == "" {
		if q.Experiment, err = a.experiment(o); err != nil {
			return err
		}
	}
	// A state folder that was used before is locked and cleaned first: another run may still add to the one that is
	// resumed, and what a dead one left takes space. A new one is not even made until no fault was found.
	var ready *experiment.Ready
	check := func() (err error) {
		if o.Resume != "" {
			err = a.resumed(&q, o)
		}
		if err == nil {
			ready, err = experiment.Check(ctx, a.World, q)
		}
		return err
	}
	if _, err := os.Stat(q.StateDir); err != nil {
		if err := check(); err != nil {
			return err
		}
	}
	lock, err := experiment.Lock(ctx, q.StateDir, o.Wait, func(line string) { fmt.Fprintln(a.Stderr, line) })
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := a.clean(ctx, q.StateDir, o.Quiet); err != nil {
		return err
	}
	if ready == nil {
		if err := check(); err != nil {
			return err
		}
	}
	return a.carryOut(ctx, o, ready)
}

// request puts together where things are.
func (a *app) request(o runOptions) (q experiment.Options, err error) {
	q = experiment.Options{
		Scratch: o.Scratch, Device: o.Device, Erase: o.Erase, Polite: o.Polite, SPDK: o.SPDK,
		Accel: o.Accel, QEMU: o.QEMU, Fio: o.Fio, Kernel: o.Kernel, Modules: o.Modules, Version: Version(),
	}
	if q.StateDir, err = a.StateDir(); err != nil {
		return q, err
	}
	q.CacheDir, err = a.CacheDir()
	q.Seed = a.seed(o)
	return q, err
}

// seed is the one that was given, else a new one.
func (a *app) seed(o runOptions) uint64 {
	if o.Seed != nil {
		return *o.Seed
	}
	return a.Seed() >> 11 // every JSON reader holds 53 bits exactly
}

// resumed finds the run to go on with; without a name, the newest that ended early.
func (a *app) resumed(q *experiment.Options, o runOptions) error {
	id := o.Resume
	return a.readStore(func(s *store.Store) error {
		var run record.Run
		var err error
		if id == lastPartial {
			run, err = lastEndedEarly(s)
		} else {
			run, err = s.Run(id)
		}
		if err != nil {
			return err
		}
		if run.Status == record.Complete {
			return errkind.Userf("run %s is complete: there is nothing to go on with", run.ID)
		}
		q.Resume, q.Seed = &run, run.Seed
		if q.Experiment, err = s.Experiment(run.ID); err != nil {
			return err
		}
		if o.Budget > 0 { // of the whole run, what it has taken already included
			q.Experiment.Budget = o.Budget
		}
		q.Done, err = s.Windows(run.ID, false)
		return err
	})
}

func lastEndedEarly(s *store.Store) (record.Run, error) {
	runs, err := s.Runs()
	if err != nil {
		return record.Run{}, err
	}
	for _, r := range runs {
		if r.Status != record.Complete {
			return r, nil
		}
	}
	return record.Run{}, errkind.Userf("no stored run ended early: there is nothing to resume")
}

// carryOut measures and reports.
func (a *app) carryOut(ctx context.Context, o runOptions, ready *experiment.Ready) (err error) {
	s, err := a.openStore()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	tty := a.IsTerminal(a.Stderr) && !o.NoProgress && a.Getenv("TERM") != "dumb"
	view := live.New(live.Options{
		Out: a.Stderr, TTY: tty, Width: func() int { return a.Width(a.Stderr) }, Color: tty && a.Getenv("NO_COLOR") == "",
		Quiet: o.Quiet, Experiment: ready.Experiment,
	})
	for _, line := range ready.Announce() {
		view.Note(line)
	}
	run, runErr := ready.Run(ctx, s, view)
	view.Close()
	if run.ID == "" {
		return runErr
	}
	return o.ended(run, errors.Join(runErr, a.reports(o, s, run)), ctx)
}

// ended turns the end of a run into an exit code: one that ended early is not a success, whatever it measured.
func (o runOptions) ended(run record.Run, err error, ctx context.Context) error {
	interrupted := ctx.Err() != nil && run.Status == record.Partial
	switch {
	case interrupted && onlyCancelled(err):
		return &errkind.Error{Code: errkind.Interrupted, Err: errors.New("interrupted"), Hint: "go on with: " + o.goOn(run.ID)}
	case interrupted: // and something went wrong on the way out, which must be seen
		return &errkind.Error{Code: errkind.Partial, Err: fmt.Errorf("run %s was interrupted: %w", run.ID, err)}
	case err != nil && run.Status == record.Partial:
		return &errkind.Error{Code: errkind.Partial, Err: fmt.Errorf("run %s ended early: %w", run.ID, err)}
	}
	return err
}

// goOn is the command that resumes a run in the place where it began.
func (o runOptions) goOn(id string) string {
	command := "iotax run --resume " + id
	for _, f := range []struct{ flag, value string }{{"scratch", o.Scratch}, {"device", o.Device}, {"spdk", o.SPDK}} {
		if f.value != "" {
			command += " --" + f.flag + " " + f.value
		}
	}
	return command
}

// onlyCancelled reports whether an error says nothing but that the run was interrupted.
func onlyCancelled(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			if !onlyCancelled(e) {
				return false
			}
		}
		return true
	}
	return err == nil || errors.Is(err, context.Canceled)
}

// reports writes what was asked for: the table, the HTML file beside the store, JSON.
func (a *app) reports(o runOptions, s *store.Store, run record.Run) error {
	result, err := stored(s, run.ID)
	if err != nil {
		return err
	}
	if result.Efficiency == 0 && o.JSON == "" && o.HTML == "" {
		return nil // it ended before its first window: the error says all there is to say
	}
	if o.Limit != nil {
		result.Limit(*o.Limit)
	}
	page := o.HTML
	if page == "" {
		page = filepath.Join(filepath.Dir(s.Path()), run.ID+".html")
	}
	failures := []error{a.output(page, a.renderer("html", result))}
	if o.JSON != "" {
		failures = append(failures, a.output(o.JSON, a.renderer("json", result)))
	}
	if !o.Quiet && o.JSON != "-" && page != "-" {
		failures = append(failures, a.output("-", a.renderer("text", result)))
		fmt.Fprintf(a.Stdout, "Report: %s\n", page)
	}
	return errors.Join(failures...)
}
