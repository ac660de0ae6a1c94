package experiment

import (
	"fmt"
	"time"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/record"
)

// asBefore holds a resumed run to the stacks that it was begun with: the plan, and with it the order of every round,
// follows from them. A stack that could not be offered then stays out, unless that was found out by a boot: the plan has it.
// One that cannot be offered any more is a fault.
func (r *Ready) asBefore() error {
	if r.Resume == nil {
		return nil
	}
	var faults errkind.List
	for i := range r.Stacks {
		for _, was := range r.Resume.Stacks {
			switch now := &r.Stacks[i]; {
			case was.Name != now.Name:
			case was.Unavailable != "" && !was.AtBoot:
				now.Unavailable, now.Mend = was.Unavailable, was.Mend
			case now.Unavailable != "":
				faults = append(faults, errkind.WithHint(errkind.Userf("run %s cannot be resumed: %s, which it planned, is unavailable now: %s",
					r.Resume.ID, now.Name, now.Unavailable), "%s", now.Mend))
			}
		}
	}
	return faults.Err()
}

// sameHost refuses to go on with a run where its numbers would no longer be of one host.
func (r *Ready) sameHost() error {
	old, now := r.Resume.Host, r.Facts
	var faults errkind.List
	for _, c := range []struct{ what, was, is string }{
		{"accelerator", old.Accelerator, now.Accelerator},
		{"kernel", old.Kernel, now.Kernel},
		{"guest kernel", old.GuestKernel, now.GuestKernel},
		{"CPU", old.CPU, now.CPU},
		{"QEMU", old.QEMU, now.QEMU},
		{"fio", old.Fio, now.Fio},
		{"disk", old.Device.Name, now.Device.Name},
	} {
		if c.was != c.is && len(r.Done) > 0 {
			faults = append(faults, errkind.Userf("run %s cannot be resumed: its %s was %q, now it is %q; start a new run", r.Resume.ID, c.what, c.was, c.is))
		}
	}
	return faults.Err()
}

// again is the stored run, under way once more.
func (r *Ready) again() record.Run {
	run := *r.Resume
	run.Status, run.Reason = record.Running, ""
	run.Ended = time.Time{}
	run.Warnings = append(run.Warnings, fmt.Sprintf("the run was resumed after %d windows", len(r.Done)))
	return run
}
