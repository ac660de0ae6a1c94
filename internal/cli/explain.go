package cli

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/jsonout"
	"github.com/iotax/iotax/internal/report/text"
	"github.com/iotax/iotax/internal/store"
	"github.com/iotax/iotax/internal/unit"
)

// explainOptions is what `iotax explain` was asked.
type explainOptions struct {
	all      bool
	workload string
	limit    *analyse.Limit
	format   string
	file     string
}

func (a *app) explainCmd() *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use:   "explain [RUN] [STACK]",
		Short: "Say where the loss of a stored run is, and what it costs",
		Long: `explain takes the tax of each stack apart, from the host's disk up to the program in the guest: how much time the
storage, the image format, QEMU's block layer, the transport and the guest add to an I/O, each with its share of
the whole. The parts add up to the whole. It then says what the path could do over a disk of zero latency, what an I/O
costs the host in CPU by the role of the thread, what reaches the device, which stacks give the most for the cores
they take, and how IOPS and latency go together over iodepth.

RUN is the id of a run or its first letters; without it, the newest run. Without STACK it explains the best stack, the
usual defaults and the one that loses most. JSON is the whole document of iotax report: its field "explanation" has all
of this.`,
		Example: `  # the newest run: the best stack, the usual defaults, the worst
  iotax explain

  # one stack of it
  iotax explain virtio-blk

  # of another run, under one workload
  iotax explain 7k2f virtio-blk --workload randread-4k-qd1

  # the most that each stack gives with a p99 latency of 5 ms at most
  iotax explain --sla p99=5ms`,
		Args:              atMost(2, "RUN and STACK"),
		ValidArgsFunction: a.completeRunAndStack,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.readStore(func(s *store.Store) error { return a.explain(s, args, o) })
		},
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "explain every stack of the run")
	cmd.Flags().StringVar(&o.workload, "workload", "", "only under the workload `NAME`")
	complete(cmd, "workload", a.newestWorkloads)
	limitFlag(cmd, &o.limit)
	enumFlag(cmd, &o.format, "format", "what to print", "text", "json")
	cmd.Flags().StringVarP(&o.file, "output", "o", "-", "write to `FILE` instead of standard output")
	return cmd
}

// explain prints the explanation of a stored run.
func (a *app) explain(s *store.Store, args []string, o explainOptions) error {
	id, stack, err := runAndStack(s, args)
	if err != nil {
		return err
	}
	if stack != "" && o.all {
		return errkind.Userf("--all explains every stack, and %q is one: leave one of the two out", stack)
	}
	result, err := stored(s, id)
	if err != nil {
		return err
	}
	subject, err := subjectOf(result, stack, o)
	if err != nil {
		return err
	}
	if o.limit != nil {
		result.Limit(*o.limit)
	}
	return a.output(a.file(o.file), func(w io.Writer) error {
		if o.format == "json" {
			return jsonout.Write(w, result)
		}
		return text.WriteExplanation(w, result, subject, a.textOptions())
	})
}

// runAndStack tells what the arguments name. A single one is a stack of the newest run, or else a run.
func runAndStack(s *store.Store, args []string) (run, stack string, err error) {
	switch len(args) {
	case 0:
		return "", "", nil
	case 2:
		return args[0], args[1], nil
	}
	newest, err := s.Run("")
	if err != nil {
		return "", "", err
	}
	names, err := stackNames(s, newest)
	if err != nil {
		return "", "", err
	}
	if slices.Contains(names, args[0]) {
		return newest.ID, args[0], nil
	}
	found, err := s.Run(args[0])
	var missing *store.NotFoundError
	if errors.As(err, &missing) {
		err = errkind.Userf("%q is neither a stored run nor a stack of the newest one, %s; %s", args[0], newest.ID, perhaps(args[0], names))
	}
	return found.ID, "", err
}

// stackNames lists the stacks of a stored run.
func stackNames(s *store.Store, run record.Run) ([]string, error) {
	e, err := s.Experiment(run.ID)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, st := range e.Stacks {
		names = append(names, st.Name)
	}
	return names, nil
}

// noSuch is the fault of a name that a run does not have.
func noSuch(what, name, run string, known []string) error {
	return errkind.Userf("run %s has no %s %q; %s", run, what, name, perhaps(name, known))
}

// subjectOf checks what is asked against what the run has.
func subjectOf(r analyse.Result, stack string, o explainOptions) (text.Subject, error) {
	var faults errkind.List
	var stacks, workloads []string
	for _, s := range r.Experiment.Stacks {
		stacks = append(stacks, s.Name)
	}
	for _, w := range r.Experiment.Workloads {
		workloads = append(workloads, w.Name)
	}
	if stack != "" && !slices.Contains(stacks, stack) {
		faults = append(faults, noSuch("stack", stack, r.Run.ID, stacks))
	}
	if o.workload != "" && !slices.Contains(workloads, o.workload) {
		faults = append(faults, noSuch("workload", o.workload, r.Run.ID, workloads))
	}
	subject := text.Subject{Workload: o.workload}
	switch {
	case stack != "":
		subject.Stacks = []string{stack}
	case !o.all:
		subject.Stacks = r.Representative()
	}
	return subject, faults.Err()
}

// completeRunAndStack lets the shell complete the runs, then the stacks of the one that is named.
func (a *app) completeRunAndStack(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	ids, how := a.completeRun(cmd, args, word)
	run := append(args, "")[0]
	err := a.readStore(func(s *store.Store) error {
		found, err := s.Run(run)
		if err != nil || len(args) > 1 {
			return err
		}
		names, err := stackNames(s, found)
		ids = append(ids, names...)
		return err
	})
	if err != nil {
		return nil, how // nothing to offer, and the shell is no place for a message
	}
	return ids, how
}

// newestWorkloads lists the workloads of the newest run; none where there is no run.
func (a *app) newestWorkloads() (names []string) {
	_ = a.readStore(func(s *store.Store) error { // the shell is no place for a message
		run, err := s.Run("")
		if err != nil {
			return err
		}
		e, err := s.Experiment(run.ID)
		for _, w := range e.Workloads {
			names = append(names, w.Name)
		}
		return err
	})
	return names
}

// limitFlag adds --sla.
func limitFlag(cmd *cobra.Command, limit **analyse.Limit) {
	parsedFlag(cmd, limit, parseLimit, "sla", "the most IOPS that keep a `LATENCY`, such as p99=5ms")
}

// slas are the latencies that a limit may be on.
var slas = []struct{ word, metric string }{
	{"p50", record.ClatP50}, {"p99", record.ClatP99}, {"p99.9", record.ClatP999}, {"mean", record.ClatMean},
}

// parseLimit reads a limit on a latency: "p99=5ms".
func parseLimit(s string) (*analyse.Limit, error) {
	word, time, has := strings.Cut(s, "=")
	var words []string
	for _, sla := range slas {
		words = append(words, sla.word)
		if sla.word != strings.ToLower(strings.TrimSpace(word)) || !has {
			continue
		}
		d, err := unit.ParseDuration(time)
		if err != nil {
			return nil, err
		}
		if d <= 0 {
			return nil, errkind.Userf("%q is no time that an I/O could take; expected such as %s=5ms", time, sla.word)
		}
		return &analyse.Limit{Metric: sla.metric, NS: float64(d)}, nil
	}
	return nil, errkind.Userf("%q is not a limit; expected such as p99=5ms, with one of %s", s, strings.Join(words, ", "))
}
