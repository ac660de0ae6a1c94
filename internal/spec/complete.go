package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/unit"
)

// Complete spells out what an experiment leaves to defaults: QEMU's own for the settings of a stack,
// half reads for a mixed load, and titles. It changes no setting that is there, and copies what it changes.
func Complete(e Experiment) Experiment {
	if e.Title == "" {
		e.Title = e.Name
	}
	e.Stacks, e.Workloads = slices.Clone(e.Stacks), slices.Clone(e.Workloads)
	for i := range e.Stacks {
		completeStack(&e.Stacks[i])
	}
	for i := range e.Workloads {
		w := &e.Workloads[i]
		if w.RWMixRead == 0 && w.mixed() {
			w.RWMixRead = 50 // fio's default
		}
		or(&w.Title, describe(*w))
	}
	return e
}

func completeStack(s *Stack) {
	or(&s.Title, s.Name)
	if s.InsideGuest() {
		or(&s.Format, "null-co")
	}
	or(&s.Format, "raw")
	if s.Ceiling() {
		or(&s.Role, "ceiling")
	} else {
		or(&s.Storage, "file")
	}
	if s.Format == "qcow2" {
		or(&s.Preallocation, "off")
	}
	completeStorage(s)
	if s.Xen() {
		or(&s.Backend, "phy")
	}
	if !s.BlockLayer() {
		return
	}
	or(&s.Cache, "writeback")
	or(&s.AIO, "threads")
	or(&s.Discard, "ignore")
	or(&s.DetectZeroes, "off")
}

func completeStorage(s *Stack) {
	switch s.Storage {
	case "lvm-thin":
		or(&s.Zeroing, "on")
	case "zfs-file", "zvol":
		or(&s.Compression, "off")
		or(&s.PrimaryCache, "all")
		or(&s.Sync, "standard")
	}
}

// or gives a string its default.
func or(s *string, value string) {
	if *s == "" {
		*s = value
	}
}

// mixed reports whether the workload both reads and writes.
func (w Workload) mixed() bool { return w.Reads() && w.Writes() }

// describe titles a workload in the few letters that the head of a column has: "4k rand read q32",
// "256k seq write q4", "4k sync write q1" (an fdatasync after every write), "8k rand 70/30 q16", "4k held read q32".
func describe(w Workload) string {
	order, what := "rand ", "write"
	if w.Sequential() {
		order = "seq "
	}
	switch {
	case w.mixed():
		what = fmt.Sprintf("%d/%d", w.RWMixRead, 100-w.RWMixRead)
	case w.Reads():
		what = "read"
	}
	switch {
	case w.FDataSync == 1 && order == "rand " && !w.mixed():
		order = "sync "
	case w.FDataSync == 1:
		order += "sync "
	case w.FDataSync > 1:
		order += fmt.Sprintf("sync/%d ", w.FDataSync)
	}
	if w.Held() {
		order = strings.TrimPrefix(order, "rand ") + "held "
	}
	size := unit.FioBytes(w.BS)
	if w.BSSplit != "" {
		size = "mixed"
	}
	title := fmt.Sprintf("%s %s%s q%d", size, order, what, w.IODepth)
	if w.Jobs() > 1 {
		title += fmt.Sprintf("t%d", w.Jobs())
	}
	return title
}
