package experiment

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/fio"
	"github.com/iotax/iotax/internal/hostenv"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/provision/ground"
	"github.com/iotax/iotax/internal/provision/lvm"
	"github.com/iotax/iotax/internal/provision/slice"
	"github.com/iotax/iotax/internal/provision/zfs"
	"github.com/iotax/iotax/internal/qemu/caps"
	"github.com/iotax/iotax/internal/spdk"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
)

// Check looks for everything that would make the run fail, and returns all of it at once. It changes nothing
// but the cache of what this QEMU can do.
func Check(ctx context.Context, w sys.World, o Options) (*Ready, error) {
	if err := checkArch(runtime.GOARCH); err != nil {
		return nil, err
	}
	r := &Ready{Options: o, world: w}
	var faults errkind.List
	collect := func(err error) {
		var list errkind.List
		switch {
		case err == nil:
		case errors.As(err, &list):
			faults = append(faults, list...)
		default:
			faults = append(faults, err)
		}
	}
	r.host.Facts(&r.Facts)
	collect(r.findTools())
	stored := r.findStorage(ctx)
	collect(stored)
	if r.qemu != "" {
		collect(r.judgeStacks(ctx))
	}
	if slices.ContainsFunc(r.Experiment.Stacks, func(s spec.Stack) bool { return !s.OnHost() }) {
		collect(CheckMemory(r.Facts.Memory, r.Experiment.Guest))
	}
	if stored == nil {
		collect(r.checkPools(ctx))
		collect(r.checkSpace())
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	collect(r.nothingToCompare())
	if err := faults.Err(); err != nil {
		return nil, err
	}
	p, err := plan.Make(r.available(), o.Seed)
	if err != nil {
		return nil, err
	}
	r.Plan = p
	if r.Neighbours, err = r.host.Neighbours(os.Getpid()); err != nil {
		return nil, err
	}
	return r, nil
}

// checkArch refuses an iotax that was built for another processor than the guests have: its agent and the kernel of
// such a host cannot start in them.
func checkArch(arch string) error {
	if arch != "amd64" {
		return errkind.Userf("iotax measures with x86-64 guests on x86-64 hosts; this is an iotax for %s", arch)
	}
	return nil
}

// findTools looks for the programs that a run needs.
func (r *Ready) findTools() error {
	var faults errkind.List
	var missing []string
	find := func(given, name string, into *string) {
		path, err := r.world.Runner.LookPath(first(given, name))
		switch {
		case err == nil:
			*into = path
		case given != "":
			faults = append(faults, errkind.Userf("%s: %v", given, err))
		default:
			missing = append(missing, name)
			faults = append(faults, errkind.Userf("%s is missing", name))
		}
	}
	find(r.QEMU, "qemu-system-x86_64", &r.qemu)
	find(r.Fio, "fio", &r.fio)
	find("", "qemu-img", &r.qemuImg)
	if r.SPDK != "" {
		if _, err := spdk.Find(r.SPDK); err != nil {
			faults = append(faults, errkind.Userf("--spdk: %w", err))
		}
	}
	if path, err := r.world.Runner.LookPath("ioping"); err == nil {
		r.ioping = path
	} else if slices.ContainsFunc(r.Experiment.Workloads, spec.Workload.Ioping) {
		missing = append(missing, "ioping")
		faults = append(faults, errkind.Userf("ioping is missing, which makes the loads of this experiment"))
	}
	if len(missing) > 0 {
		hint := hostenv.InstallCommand(r.world.Runner.LookPath, missing...)
		faults[len(faults)-1] = errkind.WithHint(faults[len(faults)-1], "%s", hint)
	}
	return faults.Err()
}

func first(names ...string) string {
	for _, n := range names {
		if n != "" {
			return n
		}
	}
	return ""
}

// findStorage looks at the place where the volumes would lie: a folder that takes O_DIRECT, or a device without data.
func (r *Ready) findStorage(ctx context.Context) error {
	if r.Device != "" {
		return r.findDevice(ctx)
	}
	if r.Scratch == "" {
		r.Scratch = filepath.Join(r.StateDir, "scratch")
	}
	if err := checkPath("--scratch", r.Scratch); err != nil {
		return err
	}
	place, err := Look(r.host, r.Scratch)
	r.settle(place)
	return err
}

// checkPath refuses a path that no fio job file can carry, which would be found out only at the first window.
func checkPath(flag, path string) error {
	job := fio.Job{Name: "volume", Filename: path, RW: "read", BS: provision.Align, Size: provision.Align}
	if _, err := job.Text(); err != nil {
		return errkind.Userf("%s %q: fio cannot take a path with $, ;, #, a control character or a blank at an end", flag, path)
	}
	return nil
}

// settle takes over what was found out about the place of the volumes.
func (r *Ready) settle(p Place) {
	r.Storage = p.Storage
	r.Facts.ScratchPath, r.Facts.Filesystem, r.Facts.Device = p.Path, p.Filesystem, p.Device
	if caution := Caution(p.Filesystem); caution != "" {
		r.warnings = append(r.warnings, caution)
	}
}

func (r *Ready) findDevice(ctx context.Context) error {
	if err := checkPath("--device", r.Device); err != nil {
		return err
	}
	if info, err := os.Stat(r.Device); err != nil {
		return errkind.Userf("--device: %w", err)
	} else if info.Mode()&os.ModeDevice == 0 || info.Mode()&os.ModeCharDevice != 0 {
		return errkind.Userf("--device %s is not a block device; a folder goes with --scratch", r.Device)
	}
	users, err := r.host.InUse(r.Device)
	if err != nil {
		return errkind.Userf("--device %s: %w", r.Device, err)
	}
	if len(users) > 0 {
		return errkind.WithHint(errkind.Userf("--device %s is in use: %s", r.Device, strings.Join(users, "; ")),
			"nothing is written to a device in use, --erase or not")
	}
	reasons, err := r.host.CarriesData(ctx, r.world.Runner, r.Device)
	if err != nil {
		return errkind.Userf("--device %s: %w", r.Device, err)
	}
	place := Place{Path: r.Device}
	if err := place.resolve(r.host, r.Device); err != nil {
		return err
	}
	r.settle(place)
	if len(reasons) > 0 && !r.Erase {
		return errkind.WithHint(errkind.Userf("--device %s (%s) carries data: %s", r.Device, r.disk(), strings.Join(reasons, "; ")),
			"nothing is written to it; if its content may be lost, add --erase %s", r.Device)
	}
	return nil
}

// judgeStacks asks QEMU and the kernel which stacks they can offer.
func (r *Ready) judgeStacks(ctx context.Context) error {
	var err error
	if r.caps, err = caps.Cached(ctx, r.qemu, filepath.Join(r.CacheDir, "caps")); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx) // no fault of QEMU's
		}
		line, _, _ := strings.Cut(err.Error(), "\n")
		return errkind.Userf("%s does not answer as QEMU does: %s", r.qemu, line)
	}
	platform := Platform{
		Caps: r.caps, IOURing: r.host.IOURing(), BareDevice: r.Device != "" && !layered(r.Experiment),
		Others: Lacks(r.world.Runner, Tools{Device: r.Device, SPDK: r.SPDK, Fio: r.fio, QEMUImg: r.qemuImg}),
	}
	r.Stacks = platform.Judge(ctx, r.Experiment)
	return nil
}

// checkPools refuses what is wrong with the pools that the stacks name: one that is not there, a name that is taken.
func (r *Ready) checkPools(ctx context.Context) error {
	s, jobs := r.outline()
	var requests []provision.Request
	for _, j := range jobs {
		if st := j.Request.Stack.Storage; st == "lvm" || st == "lvm-thin" {
			requests = append(requests, j.Request)
		}
	}
	var faults errkind.List
	for _, err := range []error{(&lvm.Driver{Run: r.world.Runner, Ground: s.ground}).Check(ctx, requests), zfs.Check(ctx, jobs)} {
		if err != nil {
			faults = append(faults, err)
		}
	}
	return faults.Err()
}

// available is the experiment without the stacks that this host cannot offer: whole where there is no QEMU to ask.
func (r *Ready) available() spec.Experiment {
	if r.Stacks == nil {
		return r.Experiment
	}
	return Available(r.Experiment, r.Stacks)
}

// nothingToCompare is NothingToCompare of the run.
func (r *Ready) nothingToCompare() error {
	if len(r.Stacks) == 0 {
		return nil
	}
	return NothingToCompare(r.Experiment, r.Stacks)
}

// checkSpace refuses before anything is written when the volumes would not fit.
func (r *Ready) checkSpace() error {
	if r.Device != "" {
		return r.checkDevice()
	}
	need, err := r.need()
	if err != nil {
		return err
	}
	return provision.CheckSpace(existingParent(r.Scratch), need)
}

// checkDevice refuses a device that is too small for the volumes, or that cannot be divided where it has to be.
func (r *Ready) checkDevice() error {
	s, jobs := r.outline()
	sizes, err := s.parts(jobs)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(jobs, func(j provision.Job) bool { return j.Driver != provision.Driver(s.slices) }) {
		if err := ground.CheckDevice(r.Device); err != nil {
			return err
		}
	}
	if files, err := s.files(jobs); err == nil && files > 0 {
		if err := filesystemLacks(r.world.Runner); err != nil {
			return err
		}
	}
	return slice.CheckSizes(r.Device, sizes)
}
