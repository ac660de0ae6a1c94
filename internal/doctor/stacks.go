package doctor

import (
	"context"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/experiment"
	"github.com/iotax/iotax/internal/spec"
)

// stacks says which of the experiment's stacks this host can offer. One that it cannot offer is left out of a run.
func (x *exam) stacks(ctx context.Context) {
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
	platform := experiment.Platform{Caps: *x.caps, IOURing: uring, Others: x.Lacks}
	judged := platform.Judge(ctx, x.Experiment)
	for _, s := range judged {
		if s.Unavailable == "" {
			x.ok(Stacks, s.Name, "")
			continue
		}
		x.add(Finding{Area: Stacks, What: s.Name, State: Cannot, Why: s.Unavailable, Mend: s.Mend})
	}
	nothing := experiment.NothingToCompare(x.Experiment, judged)
	x.Experiment = experiment.Available(x.Experiment, judged)
	if nothing != nil || len(x.Experiment.Stacks) == 0 {
		x.blocked(Stacks, "stacks", errkind.Userf("none can be offered: there is nothing to compare"))
	}
	x.beyond(ctx, platform)
}

// beyond says what stacks other presets could have here: the default one needs none of this.
func (x *exam) beyond(ctx context.Context, p experiment.Platform) {
	virtio := spec.Stack{Bus: "virtio-blk", Cache: "none", AIO: "native"}
	on := func(storage string) spec.Stack { s := virtio; s.Storage = storage; return s }
	served := spec.Stack{Bus: "vhost-user-blk", Cache: "none", AIO: "native"}
	bySPDK := served
	bySPDK.Daemon = "spdk"
	for _, kind := range []struct {
		what  string
		stack spec.Stack
	}{
		{"block devices", on("device")},
		{"volumes of LVM", on("lvm")},
		{"thin volumes of LVM", on("lvm-thin")},
		{"ZFS", on("zvol")},
		{"vhost-user-blk, by QEMU", served},
		{"vhost-user-blk, by SPDK", bySPDK},
		{"domains of Xen", spec.Stack{Bus: "blkfront", Hypervisor: "xen-pv", Backend: "phy"}},
	} {
		kind.stack.Name = "trial"
		e := spec.Complete(spec.Experiment{Guest: x.Experiment.Guest, Stacks: []spec.Stack{kind.stack}})
		if found := p.Judge(ctx, e)[0]; found.Unavailable != "" {
			x.add(Finding{Area: Stacks, What: kind.what, State: Cannot, Why: found.Unavailable, Mend: found.Mend})
			continue
		}
		x.ok(Stacks, kind.what, "other presets can measure it")
	}
}

func (x *exam) mendIOURing() string {
	switch x.read("proc/sys/kernel/io_uring_disabled") {
	case "1", "2":
		return "sysctl -w kernel.io_uring_disabled=0"
	}
	return "Linux 5.1 or newer, outside of a container whose seccomp filter forbids it"
}
