package text

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/spec"
)

// Subject is what is to be explained.
type Subject struct {
	Stacks   []string // by name, in the order of print; none stands for all that have a bill
	Workload string   // "" for all
}

// WriteExplanation writes where the tax of a run goes and what it costs: a waterfall for each stack and workload, then the
// price, the device and the load curves. No line is wider than Options.Width.
func WriteExplanation(w io.Writer, r analyse.Result, s Subject, o Options) error {
	p := newPrinter(o)
	e := r.Explanation
	if e == nil {
		e = &analyse.Explanation{}
	}
	x := &explanation{printer: p, r: r, Explanation: e, subject: s, names: newLabels(r), notes: &notes{}, told: map[[2]string]bool{}}
	if len(s.Stacks) == 0 {
		x.subject.Stacks = x.all()
	}
	p.alarms(r)
	p.hang("", identity(r), plain)
	if r.Run.Host.Accelerator == "tcg" {
		p.hang("", "SOFTWARE EMULATION: every I/O takes the guest far longer than under KVM; where the time goes is usually alike.", loud)
	}
	x.bills()
	x.generalCeilings()
	x.prices()
	x.device()
	x.fronts()
	x.curves()
	p.blank()
	for i, note := range x.notes.texts {
		p.hang(mark(i+1)+" ", note, plain)
	}
	_, err := io.WriteString(w, strings.TrimRight(p.out.String(), "\n")+"\n")
	return err
}

// explanation is what is being written.
type explanation struct {
	*printer
	*analyse.Explanation
	r       analyse.Result
	subject Subject
	names   labels
	notes   *notes
	told    map[[2]string]bool // advice, by stack
}

// all lists the stacks that have a bill.
func (x *explanation) all() []string {
	var out []string
	for _, b := range x.Bills {
		if !slices.Contains(out, b.Stack) {
			out = append(out, b.Stack)
		}
	}
	return out
}

// about reports whether a workload is asked for.
func (x *explanation) about(workload string) bool {
	return x.subject.Workload == "" || x.subject.Workload == workload
}

// workloads lists those that are asked for, in the order of the experiment.
func (x *explanation) workloads() []spec.Workload {
	return slices.DeleteFunc(slices.Clone(x.r.Experiment.Workloads), func(w spec.Workload) bool { return !x.about(w.Name) })
}

// shown reports whether a stack is in the tables: the host is, to compare with.
func (x *explanation) shown(stack string) bool {
	return stack == spec.Host || slices.Contains(x.subject.Stacks, stack)
}

// list names stacks.
func (x *explanation) list(stacks []string) string {
	words := make([]string, len(stacks))
	for i, s := range stacks {
		words[i] = glued(x.names.stack(s))
	}
	return strings.Join(words, ", ")
}

// title heads a section.
func (x *explanation) title(format string, args ...any) {
	x.blank()
	x.hang("", fmt.Sprintf(format, args...), head)
}
