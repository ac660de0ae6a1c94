package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/iometer"
	"github.com/iotax/iotax/internal/spec"
)

// experiment reads what to measure, with the flags that change it.
func (a *app) experiment(o runOptions) (e spec.Experiment, err error) {
	if o.File == "" {
		e, err = spec.Preset(o.Preset)
	} else {
		var text []byte
		if text, err = os.ReadFile(o.File); err != nil {
			return e, errkind.Userf("%w", err)
		}
		e, err = spec.Parse(filepath.Base(o.File), text)
	}
	if err != nil {
		return e, err
	}
	if o.Scale != "" {
		if e, err = e.AtScale(o.Scale); err != nil {
			return e, err
		}
	}
	if o.ICF != "" {
		if e, err = withAccessSpecs(e, o.ICF); err != nil {
			return e, err
		}
	}
	if o.Size > 0 {
		e.Size = o.Size
	}
	if o.Detect > 0 {
		e.Detect, e.Budget = o.Detect, 0 // what it takes, whatever was enough for another aim
	}
	if o.Budget > 0 {
		e.Budget = o.Budget
	}
	e.Stacks = slices.Clone(e.Stacks)
	for i := range e.Stacks {
		o.setPool(&e.Stacks[i])
	}
	if err := spec.Validate(e); err != nil {
		return e, err
	}
	if err := o.idle(e); err != nil {
		return e, err
	}
	return a.budgeted(e)
}

// idle refuses flags that name storage or a server of which the experiment has no use: another experiment was meant.
func (o runOptions) idle(e spec.Experiment) error {
	var faults errkind.List
	for _, f := range []struct {
		flag, value, what string
		uses              func(spec.Stack) bool
	}{
		{"vg", o.VG, "a volume of LVM", func(s spec.Stack) bool { return s.Storage == "lvm" }},
		{"thin-pool", o.ThinPool, "a thin volume", func(s spec.Stack) bool { return s.Storage == "lvm-thin" }},
		{"zpool", o.ZPool, "on ZFS", func(s spec.Stack) bool { return s.Storage == "zfs-file" || s.Storage == "zvol" }},
		{"spdk", o.SPDK, "served by SPDK", func(s spec.Stack) bool { return s.Served() == "spdk" }},
	} {
		if f.value != "" && !slices.ContainsFunc(e.Stacks, f.uses) {
			faults = append(faults, errkind.Userf("--%s: no stack of %s is %s; leave it out, or choose another experiment", f.flag, e.Name, f.what))
		}
	}
	return faults.Err()
}

// setPool gives a stack the pool that the flags name, unless the experiment says another.
func (o runOptions) setPool(s *spec.Stack) {
	pool := map[string]string{"lvm": o.VG, "lvm-thin": o.ThinPool, "zfs-file": o.ZPool, "zvol": o.ZPool}[s.Storage]
	if s.Pool == "" {
		s.Pool = pool
	}
}

// withAccessSpecs puts the access specifications of an Iometer file in the place of an experiment's workloads, each at
// every queue depth that the file's workers have.
func withAccessSpecs(e spec.Experiment, path string) (spec.Experiment, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return e, errkind.Userf("%w", err)
	}
	all, err := iometer.Parse(filepath.Base(path), text)
	if err != nil {
		return e, err
	}
	e.Workloads, e.Statements, e.Figures = nil, nil, nil
	e.Title = fmt.Sprintf("The stacks of %s under the access specifications of %s", e.Name, filepath.Base(path))
	slugs := iometer.Slugs(all)
	for i, access := range all {
		l, err := access.Load()
		if err != nil {
			return e, err
		}
		depths := access.Outstanding
		if len(depths) == 0 {
			depths = []int{1} // Iometer's default
		}
		for _, depth := range depths {
			w := workloadOf(l, slugs[i], depth)
			if len(depths) > 1 {
				w.Name += fmt.Sprintf("-q%d", depth)
			}
			e.Workloads = append(e.Workloads, w)
		}
		for _, note := range l.Notes {
			e.Note = joinNotes(e.Note, access.Name+": "+note)
		}
	}
	return spec.Complete(e), nil
}

func joinNotes(first, second string) string {
	if first == "" {
		return second
	}
	return first + "; " + second
}

// workloadOf is an access specification in fio's words.
func workloadOf(l iometer.Load, name string, depth int) spec.Workload {
	return spec.Workload{
		Name: name, Title: fmt.Sprintf("%.12s q%d", name, depth), RW: l.RW, RWMixRead: l.RWMixRead, BS: l.BS, IODepth: depth,
		BSSplit: l.BSSplit, BSIsSeqRand: l.BSIsSeqRand, PercentageRandom: l.PercentageRandom, BlockAlign: l.BlockAlign,
		ThinkTime: l.ThinkTime, ThinkTimeBlocks: l.ThinkTimeBlocks,
	}
}
