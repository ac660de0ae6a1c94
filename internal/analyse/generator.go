package analyse

import (
	"fmt"

	"github.com/iotax/iotax/internal/record"
)

// Limits for the load generator on the host, in shares of the CPUs that its jobs can use. In a guest it shares a virtual
// CPU with the kernel that drives the disk, and that it gets less done there is a part of what is measured.
const (
	fioWarned   = 0.8 // in all: on the kernel's way to the disk for the most part, which the guest's load goes too
	fioWithheld = 0.8 // outside the kernel alone: it makes requests and data, and the disk waits for it
)

// lanes is how many CPUs the load generator can keep busy at most: one for each job, as many as the guest has.
func (c *cell) lanes(t *table) float64 {
	jobs := c.workload.Jobs()
	if cpus := t.run.Host.GuestCPUs; cpus > 0 {
		jobs = min(jobs, cpus)
	}
	return float64(jobs)
}

// generator is for what share of the time the load generator on the host was typically busy, of the CPUs that it can use: in
// all, and outside the kernel. Where it waited for a processor it was busy too, only that others had it.
func (c *cell) generator(t *table) (all, user float64) {
	if c.guest || t.intent[c.Stack].Bench() { // qemu-img bench is what is measured there
		return 0, 0
	}
	lanes := c.lanes(t)
	all, _ = c.typical(func(e record.Evidence) (float64, bool) { return min(asked(e)/lanes, 1), true })
	user, _ = c.typical(func(e record.Evidence) (float64, bool) {
		if e.FioCPU <= 0 {
			return 0, true
		}
		return min(asked(e)/lanes, 1) * e.FioUser / e.FioCPU, true
	})
	return all, user
}

// asked is how many CPUs the load generator kept busy or waited for.
func asked(e record.Evidence) float64 {
	if e.Price == nil || e.Price.Span <= 0 {
		return e.FioCPU
	}
	load, _ := used(e.Price, record.Load)
	return max(e.FioCPU, float64(load.CPU+load.Waited)/float64(e.Price.Span))
}

// ownLimit says that what was measured is the load generator, "" when it is not.
func (c *cell) ownLimit(t *table) string {
	if _, user := c.generator(t); user > fioWithheld {
		return fmt.Sprintf("fio was busy making the load for %.0f %% of the time: this is its own speed, not the disk's", 100*user)
	}
	return ""
}

func (c *cell) warnOfGenerator(t *table, add func(yes bool, format string, args ...any)) {
	all, user := c.generator(t)
	add(all > fioWarned && user <= fioWithheld,
		"fio was busy for %.0f %% of the time: it may be the limit, not the disk, and the loss of the guests larger than it looks", 100*all)
}
