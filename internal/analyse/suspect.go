package analyse

import (
	"fmt"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// Limits of what the counters of the host's processes and of its device say against a cell.
const (
	// Others' bytes in all at the device. With a quarter of them the disk is shared in a way that the host's windows, seconds
	// away, need not have met; one in twenty is as much as most intervals are wide.
	foreignWithheld = 0.25
	foreignWarned   = 0.05
	// The time that the guest's CPUs were ready and others had theirs, in the time that they wanted to run. A tenth is what
	// a stack's share may be wrong by then, and a third halves a guest that has no slack.
	robbedWithheld = 1.0 / 3
	robbedWarned   = 0.1
	// A thread that serves a disk takes microseconds for each I/O: notifications and system calls alone cost more than half
	// of one. An iothread below both limits, while the main loop did more, had no part in it.
	idleIOThread = 0.01 // of one CPU
	leastPerIO   = 500  // nanoseconds
	// The pool of threads in the CPU time of QEMU's side of an I/O. With aio=threads it was 19 % of that under emulation, where
	// the main loop is dearest; with native aio nothing. What an alignment forbids may pass through it now and then.
	poolWithheld = 0.1
)

// suspect returns why the counters of processes and devices say that the cell's numbers are not of what was asked, "" when
// they do not.
func (t *table) suspect(c *cell) string {
	if share := c.foreign(); share > foreignWithheld {
		return foreignWords(share)
	}
	if share := c.robbed(); share > robbedWithheld {
		return robbedWords(share)
	}
	s := t.intent[c.Stack]
	if c.idleIOThread(s) {
		return "the iothread does not serve this disk: it did nothing under the load, and QEMU's main loop did"
	}
	if share := c.pool(s); share > poolWithheld {
		return fmt.Sprintf("aio=%s fell back to threads: they took %.0f %% of the CPU time of QEMU's I/O", s.AIO, 100*share)
	}
	return ""
}

// warnOfSuspects adds the footnotes of what stays below the limits, and of others at the device where a cell is withheld for
// another reason: what reached the device is not told of it either then.
func (c *cell) warnOfSuspects(add func(yes bool, format string, args ...any)) {
	foreign, robbed := c.foreign(), c.robbed()
	add(foreign >= foreignWarned && c.Reason != foreignWords(foreign), "%s", foreignWords(foreign))
	add(robbed > robbedWarned && robbed <= robbedWithheld, "%s", robbedWords(robbed))
}

// foreign is the share of the bytes at the device that no process of the run asked for, 0 where that is not known.
func (c *cell) foreign() float64 {
	share, _ := c.typical(func(e record.Evidence) (float64, bool) {
		if e.ForeignRead == nil || e.ForeignWrite == nil || e.DeviceRead == nil || e.DeviceWrite == nil {
			return 0, false
		}
		all := *e.DeviceRead + *e.DeviceWrite
		if all <= 0 {
			return 0, true
		}
		return min(float64(*e.ForeignRead+*e.ForeignWrite)/float64(all), 1), true
	})
	return share
}

func foreignWords(share float64) string {
	return fmt.Sprintf("%.0f %% of the bytes at the device were others': this is a share of the disk, not the disk", 100*share)
}

// robbed is the share of the time in which the guest's CPUs wanted to run that others had them, 0 where it is not known.
func (c *cell) robbed() float64 {
	share, _ := c.typical(func(e record.Evidence) (float64, bool) {
		if e.Robbed == nil {
			return 0, false
		}
		return *e.Robbed, true
	})
	return share
}

func robbedWords(share float64) string {
	return fmt.Sprintf("the host is busy with others: for %.0f %% of the time the guest's CPUs were ready to run and had no processor", 100*share)
}

// idleIOThread reports whether the iothread of a stack had no part in its I/O. Of vhost-user the server serves the queues, and
// its threads are not told apart.
func (c *cell) idleIOThread(s spec.Stack) bool {
	if !s.IOThread && s.VQMapping == 0 || s.VhostUser() || s.OnHost() {
		return false
	}
	idle, known := c.typical(func(e record.Evidence) (float64, bool) {
		if e.Price == nil || e.Price.Span <= 0 || e.Price.IOs <= 0 {
			return 0, false
		}
		thread, _ := used(e.Price, record.IOThread)
		loop, ok := used(e.Price, record.MainLoop)
		idle := float64(thread.CPU) < idleIOThread*float64(e.Price.Span) && float64(thread.CPU) < leastPerIO*e.Price.IOs && thread.CPU < loop.CPU
		if idle {
			return 1, ok
		}
		return 0, ok
	})
	return known && idle > 0.5
}

// pool is the share of QEMU's pool of threads in the CPU time of QEMU's side of an I/O, 0 where it took too little to have
// done that, and where it says nothing of the stack's aio: with aio=threads that is how it works; a served disk has its I/O in
// its server; and what is not direct, is flushed, or makes qcow2 allocate, goes through the pool by itself. QEMU's native aio
// has no flush before 9.1 (block/linux-aio.c), and syncs after each write are flushes. The helpers that the kernel makes for
// io_uring are no part of the pool: they are counted to the thread whose ring they serve (package meter).
func (c *cell) pool(s spec.Stack) float64 {
	flushes := c.workload.FDataSync > 0 || c.workload.Ioping() || s.Cache == "directsync"
	direct := s.Cache == "none" || s.Cache == "directsync"
	if s.AIO != "native" && s.AIO != "io_uring" || !direct || s.Served() != "" || s.OnHost() || c.ceiling || c.changing || c.workload.Writes() && flushes {
		return 0
	}
	share, _ := c.typical(func(e record.Evidence) (float64, bool) {
		if e.Price == nil {
			return 0, false
		}
		var cpu [3]int64
		for i, role := range []string{record.IOThread, record.MainLoop, record.Worker} {
			u, _ := used(e.Price, role)
			cpu[i] = u.CPU
		}
		all := cpu[0] + cpu[1] + cpu[2]
		if all == 0 || float64(cpu[2]) < leastPerIO*e.Price.IOs {
			return 0, all > 0
		}
		return float64(cpu[2]) / float64(all), true
	})
	return share
}
