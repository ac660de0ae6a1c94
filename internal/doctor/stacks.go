package doctor

import (
	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/experiment"
)

// stacks says which of the experiment's stacks this host can offer. One that it cannot offer is left out of a run.
func (x *exam) stacks() {
	uring := x.IOURing()
	if uring != nil {
		x.add(Finding{Area: Stacks, What: "io_uring", State: Cannot, Why: uring.Error(), Mend: x.mendIOURing()})
	} else {
		x.ok(Stacks, "io_uring", "this process may use it")
	}
	if x.caps == nil {
		x.warn(Stacks, "stacks", "not judged: that needs QEMU", "")
		return
	}
	judged := experiment.Platform{Caps: *x.caps, IOURing: uring}.Judge(x.Experiment.Stacks)
	for _, s := range judged {
		if s.Unavailable == "" {
			x.ok(Stacks, s.Name, "")
			continue
		}
		x.add(Finding{Area: Stacks, What: s.Name, State: Cannot, Why: s.Unavailable, Mend: s.Mend})
	}
	x.Experiment = experiment.Available(x.Experiment, judged)
	if len(x.Experiment.Stacks) == 0 {
		x.blocked(Stacks, "stacks", errkind.Userf("none can be offered: there is nothing to compare"))
	}
}

func (x *exam) mendIOURing() string {
	switch x.read("proc/sys/kernel/io_uring_disabled") {
	case "1", "2":
		return "sysctl -w kernel.io_uring_disabled=0"
	}
	return "Linux 5.1 or newer, outside of a container whose seccomp filter forbids it"
}
