// Package accel chooses the accelerator of the guest: KVM where a guest of ours really boots with it, else
// software emulation. A /dev/kvm that opens proves nothing (nested hosts offer one under which guests hang), so the
// proof is a boot, remembered for as long as host, QEMU and guest stay the same.
package accel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/qemu/caps"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/vm"
)

// The accelerators by QEMU's names.
const (
	KVM = "kvm"
	TCG = "tcg"
)

// How long a guest may take to boot with KVM: about 1 s is usual, and a hanging one must be found out within ten. Who
// insists on KVM is given the time that it takes on a host that is itself emulated: some 15 s. Tests have less patience.
var (
	trial     = 8 * time.Second
	insistent = 90 * time.Second
)

// Request is what is asked.
type Request struct {
	Want   string // "auto", KVM or TCG
	Binary string
	Caps   caps.Caps
	Image  *guest.Image
	Dir    string   // for the trial's sockets
	Env    []string // of the trial's QEMU
	Cache  string   // file that remembers
	Log    func(string)
	Device string // "/dev/kvm" outside tests
}

// Choice is what was found.
type Choice struct {
	Accel  string `json:"accel"`
	Reason string `json:"reason"` // why not KVM, "" with KVM
}

// Choose finds the accelerator. Asking for KVM where it does not work is an error; "auto" falls back.
func Choose(ctx context.Context, q Request) (Choice, error) {
	if q.Device == "" {
		q.Device = "/dev/kvm"
	}
	if q.Want == TCG {
		return Choice{TCG, "software emulation was asked for"}, nil
	}
	c, err := q.find(ctx)
	if err != nil {
		return Choice{}, err
	}
	if q.Want == KVM && c.Accel != KVM {
		return Choice{}, errkind.WithHint(errkind.Userf("--accel kvm: %s", c.Reason), "--accel auto falls back to software emulation")
	}
	return c, nil
}

func (q Request) find(ctx context.Context) (Choice, error) {
	if reason := q.obvious(); reason != "" {
		return Choice{TCG, reason}, nil
	}
	key := q.key()
	// A failure may have passed, a lack of memory or an overload: whoever insists on KVM is not told an old one.
	if c, ok := recall(q.Cache, key); ok && (c.Accel == KVM || q.Want != KVM) {
		return c, nil
	}
	if q.Log != nil {
		q.Log("trying whether guests boot with KVM")
	}
	c, err := q.try(ctx)
	if err != nil {
		return Choice{}, err
	}
	if err := remember(q.Cache, key, c); err != nil && q.Log != nil {
		q.Log("the next run must try again, since this cannot be remembered: " + err.Error())
	}
	return c, nil
}

// Hopeless says why guests cannot start with KVM, without starting one; "" when only a boot can tell.
func Hopeless(c caps.Caps) string { return Request{Caps: c, Device: "/dev/kvm"}.obvious() }

// obvious says why KVM cannot work without trying it, "" when it might.
func (q Request) obvious() string {
	if !q.Caps.HasAccelerator(KVM) {
		return "this QEMU was built without KVM"
	}
	f, err := os.OpenFile(q.Device, os.O_RDWR, 0)
	if err == nil {
		f.Close()
		return ""
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "there is no " + q.Device + ": virtualization is off in the firmware, or the kvm module is not loaded"
	case errors.Is(err, os.ErrPermission):
		return q.Device + " may not be opened: run as root or join the group kvm"
	}
	return err.Error()
}

// try boots a guest without disks.
func (q Request) try(ctx context.Context) (Choice, error) {
	patience := trial
	if q.Want == KVM {
		patience = insistent
	}
	short, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the guest did not come up within %v", patience))
	defer cancel()
	machine, err := vm.Start(short, vm.Config{
		Binary: q.Binary, Accel: KVM, Machine: "q35", CPUs: 2, Memory: 512 << 20,
		Image: q.Image, Dir: q.Dir, Name: "trial", Env: q.Env,
	})
	if err == nil {
		return Choice{KVM, ""}, machine.Close()
	}
	if ctx.Err() != nil {
		return Choice{}, context.Cause(ctx)
	}
	why := inShort(err)
	if short.Err() != nil {
		why = fmt.Sprintf("a guest hangs: no sign of life within %v", patience)
	}
	return Choice{TCG, "KVM is here but guests do not start with it: " + why}, nil
}

// inShort is one line of an error: how QEMU ended, and the first of what it said.
func inShort(err error) string {
	line := firstLine(err.Error())
	var exit *proc.Exit
	if errors.As(err, &exit) && exit.Stderr != "" {
		line += ": " + firstLine(exit.Stderr)
	}
	return line
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// key names what the proof depends on: the running host, its QEMU and the guest.
func (q Request) key() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	info, _ := os.Stat(q.Binary)
	stamp := ""
	if info != nil {
		stamp = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
	}
	return strings.Join([]string{strings.TrimSpace(string(boot)), q.Binary, stamp, q.Image.Kernel, q.Image.Initrd}, " ")
}

// remembered is how many proofs are kept: another QEMU or another iotax must not push out the usual one.
const remembered = 8

// proof is one trial and what came of it.
type proof struct {
	Key    string `json:"key"`
	Choice Choice `json:"choice"`
}

// proofs reads what was found out before, oldest first; nothing where the file cannot be understood.
func proofs(path string) (all []proof) {
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &all) != nil {
		return nil
	}
	return all
}

func recall(path, key string) (Choice, bool) {
	for _, p := range proofs(path) {
		if p.Key == key {
			return p.Choice, true
		}
	}
	return Choice{}, false
}

func remember(path, key string, c Choice) error {
	all := slices.DeleteFunc(proofs(path), func(p proof) bool { return p.Key == key })
	all = append(all, proof{key, c})
	data, err := json.Marshal(all[max(0, len(all)-remembered):])
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "accel-*.tmp") // of our own: another iotax may do the same now
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
