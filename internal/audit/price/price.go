// Package price puts a price on findings: what a run that is stored here measured of the setting as it is, and of the setting
// as it would be. It is pure, and finds no price where the two were not measured side by side.
package price

import (
	"cmp"
	"slices"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/audit"
	"github.com/iotax/iotax/internal/vmconf"
)

// Tag fills in the price of each finding of a disk for which the run has two stacks: one like the disk as it is, in bus, format,
// cache, aio, iothread and storage, and one that differs from it in what the finding changes and in nothing else. Machines and
// volumes are those that were audited.
//
// The price is that of the workload that loses most by the setting as it is. Where none can be told to lose, it is that of the
// workload that gains most, which the change would give up. The choice is among all workloads of the run that tell speed, so
// the interval is that of all of them together (Bonferroni).
func Tag(findings []audit.Finding, machines []vmconf.VM, volumes map[string]audit.Volume, r analyse.Result) {
	for i := range findings {
		f := &findings[i]
		if f.Index < 0 || f.Index >= len(machines) || f.Disk == "" || len(f.Changes) == 0 {
			continue
		}
		vm := machines[f.Index]
		at := slices.IndexFunc(vm.Disks, func(d vmconf.Disk) bool { return d.ID == f.Disk })
		if at < 0 {
			continue
		}
		volume := volumes[vm.Disks[at].Source.Value]
		is, known := like(vm, vm.Disks[at], volume)
		if !known || elsewhere(volume, r) {
			continue
		}
		if becomes, can := changed(is, f.Disk, f.Changes); can {
			f.Price = between(is, becomes, r)
		}
	}
}

// elsewhere reports whether a disk is a file on another kind of file system than the one that the run was on.
func elsewhere(v audit.Volume, r analyse.Result) bool {
	here := r.Run.Host.Filesystem
	return v.Filesystem != "" && here != "" && v.Dataset == nil && v.Filesystem != here
}

// between is the price of the first two stacks of the run that are as a disk is and as it becomes, of pairs that have a price.
func between(is, becomes stack, r analyse.Result) *audit.Price {
	for _, from := range r.Experiment.Stacks {
		if !is.matches(from, becomes) {
			continue
		}
		for _, to := range r.Experiment.Stacks {
			if !becomes.matches(to, is) || !onlyBy(from, to, is, becomes) {
				continue
			}
			if p := worst(from.Name, to.Name, r); p != nil {
				return p
			}
		}
	}
	return nil
}

// worst is the price in the workload that tells most, nil where none has both numbers.
func worst(from, to string, r analyse.Result) *audit.Price {
	var all []audit.Price
	loads := analyse.Ranked(r.Experiment)
	level := 1 - 0.05/float64(max(len(loads), 1))
	for _, w := range loads {
		if ratio, ok := r.Compare(from, to, w.Name, level); ok && ratio.Known() {
			all = append(all, audit.Price{
				Ratio: ratio, Metric: analyse.Headline(w), Workload: w.Name, Run: r.Run.ID, From: from, To: to,
				Accelerator: r.Run.Host.Accelerator,
			})
		}
	}
	if len(all) == 0 {
		return nil
	}
	by := func(a, b audit.Price) int { return cmp.Compare(a.Ratio.Value, b.Ratio.Value) }
	least, most := slices.MinFunc(all, by), slices.MaxFunc(all, by)
	if least.Ratio.High >= 1 && most.Ratio.Low > 1 {
		return &most
	}
	return &least
}
