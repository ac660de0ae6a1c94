package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/iotax/iotax/internal/accel"
)

func (x *exam) guest(ctx context.Context) {
	if err := x.Agent(); err != nil {
		x.unreachable = true
		x.blocked(Guest, "agent", err)
	} else {
		x.ok(Guest, "agent", "inside this iotax")
	}
	k, packages, err := x.Kernel(ctx)
	switch {
	case err != nil:
		x.blocked(Guest, "kernel", err)
	case k.Image == "":
		x.ok(Guest, "kernel", "none is here: the first run downloads "+strings.Join(packages, ", ")+" into the cache, and installs nothing")
	default:
		x.kernel = true
		x.ok(Guest, "kernel", fmt.Sprintf("%s, %s", k.Release, map[string]string{"host": "the host's own", "cache": "from the cache"}[k.Source]))
	}
}

// accelerator says whether guests really start with KVM, and what is known to be wrong with what they start with.
func (x *exam) accelerator(ctx context.Context) {
	if x.caps == nil {
		x.warn(Accelerator, "KVM", "not tried: that needs QEMU", "")
		return
	}
	if reason := x.Hopeless(*x.caps); reason != "" {
		x.emulated(reason, x.mendKVM())
		return
	}
	if reason := x.untried(); reason != "" {
		x.warn(Accelerator, "KVM", "not tried: "+reason, "")
		return
	}
	choice, err := x.Boot(ctx, Programs{QEMU: x.qemu, Fio: x.fio, Ioping: x.ioping, Caps: *x.caps})
	switch {
	case err != nil:
		x.blocked(Guest, "guest", err)
	case choice.Accel == accel.KVM:
		x.ok(Accelerator, "KVM", "a guest starts with it")
		x.bugs(accel.KVM)
	default:
		x.emulated(choice.Reason, x.mendBoot())
	}
}

// mendBoot is what to do about a KVM that is here and does not work.
func (x *exam) mendBoot() string {
	if x.Facts().Virtualised != "" {
		return "measure on the hardware itself, or have the hypervisor under this host offer nested virtualization that works"
	}
	return "look for the reason in dmesg"
}

// untried says why a guest cannot be booted for a trial now, "" when it can.
func (x *exam) untried() string {
	switch {
	case x.unreachable:
		return "that needs the guest's agent"
	case x.fio == "":
		return "a guest needs fio"
	case !x.kernel:
		return "the guest's kernel is not here yet; the first run tries"
	case x.busy != "":
		return "another iotax is measuring, which a trial would disturb"
	}
	return ""
}

func (x *exam) emulated(reason, mend string) {
	x.add(Finding{
		Area: Accelerator, What: "KVM", State: Cannot, Mend: mend,
		Why: reason + ". Guests run under software emulation: their shares of the host are far below KVM's, the order of the stacks is often the same",
	})
	x.bugs(accel.TCG)
}

// mendKVM is what to do about a KVM that does not even need a trial.
func (x *exam) mendKVM() string {
	if !x.caps.HasAccelerator(accel.KVM) {
		return "install a QEMU with KVM"
	}
	if _, err := fs.Stat(x.Root, "dev/kvm"); errors.Is(err, fs.ErrNotExist) {
		return "switch virtualization on in the firmware, or for a virtual host nesting on in its hypervisor; then modprobe kvm_intel or kvm_amd"
	}
	return "usermod -aG kvm USER and log in again, or run as root"
}

func (x *exam) bugs(accelerator string) {
	for _, b := range x.caps.KnownBugs(accelerator) {
		x.warn(Accelerator, "QEMU bug", fmt.Sprintf("%s (QEMU before %s; %s)", b.Effect, b.Fixed, b.Source), b.Mend)
	}
}
