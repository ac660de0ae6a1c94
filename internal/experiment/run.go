package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/accel"
	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/guest/kernel"
	"github.com/iotax/iotax/internal/measure"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/rig"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/store"
	"github.com/iotax/iotax/internal/unit"
	"github.com/iotax/iotax/internal/xen"
)

// JournalFolder is where, inside the state folder, runs write down what has to be undone.
const JournalFolder = "journal"

// undoPatience bounds the undoing at the end of a run, which an interruption does not cut short.
const undoPatience = 20 * time.Second

// Run carries the experiment out. Everything that it makes on the host is undone before it returns, whatever
// happens; what was measured is in the store. The run is returned also beside an error, once it has an id.
func (r *Ready) Run(ctx context.Context, s *store.Store, tell Teller) (run record.Run, err error) {
	image, err := r.image(ctx, tell)
	if err != nil {
		return run, err
	}
	if err := r.judgeDrivers(image, tell); err != nil {
		return run, err
	}
	id, err := r.id(s)
	if err != nil {
		return run, err
	}
	journal, err := revert.Open(filepath.Join(r.StateDir, JournalFolder), id)
	if err != nil {
		return run, OfState(err, r.StateDir)
	}
	defer func() {
		undoing, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoPatience)
		defer cancel()
		err = errors.Join(err, r.daemons.close(), r.storage.close(), journal.Undo(undoing), journal.Close())
	}()
	config, err := r.platform(ctx, id, image, journal, tell)
	if err != nil {
		return run, err
	}
	if run, err = r.begin(s, id); err != nil {
		return run, err
	}
	undoPolite := r.polite(&run)
	defer undoPolite()
	if err := r.volumes(ctx, &config, journal, tell); err != nil {
		return r.abandon(s, run, ctx, err)
	}
	run.Warnings = append(run.Warnings, r.warnings...)
	executor, kept := rig.New(config), &sink{Store: s, id: run.ID}
	run, err = measure.Run(ctx, measure.Config{
		Plan: r.Plan, Run: run, Done: r.Done, Executor: executor, Sink: kept, Observe: tell.Progress, Now: r.world.Now,
	})
	reporting, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoPatience)
	defer cancel()
	err = errors.Join(err, r.report(reporting, config, &run), s.UpdateRun(run))
	if kept.written > 0 {
		tell.Note(fmt.Sprintf("the loads made the disk write %s", unit.Bytes(kept.written)))
	}
	if r.Polite {
		run.Host.Polite += "; " + executor.Manners()
		err = errors.Join(err, s.UpdateRun(run))
	}
	return run, err
}

// image builds the guest, or finds it in the cache.
func (r *Ready) image(ctx context.Context, tell Teller) (*guest.Image, error) {
	image, err := guest.Build(ctx, guest.Options{
		Kernel: kernel.Options{Image: r.Kernel, Modules: r.Modules, Root: "/", Cache: r.CacheDir, Log: tell.Note},
		Fio:    r.fio, Ioping: r.ioping, Cache: r.CacheDir, Log: tell.Note,
	})
	return image, ofCache(err, r.CacheDir)
}

// judgeDrivers leaves out the stacks for whose bus the guest's kernel has no driver (cloud kernels leave out old
// controllers).
func (r *Ready) judgeDrivers(image *guest.Image, tell Teller) (err error) {
	for i, s := range r.Experiment.Stacks {
		_, missing := image.Modules(guest.Drivers(s.Bus)...)
		if len(missing) == 0 || r.Stacks[i].Unavailable != "" {
			continue
		}
		r.Stacks[i].Unavailable = fmt.Sprintf("the guest's kernel %s has no driver %s", image.Release, strings.Join(missing, ", "))
		r.Stacks[i].Mend = "give a kernel that has it with --kernel and --modules"
		tell.Note(fmt.Sprintf("%s is unavailable: %s (%s)", s.Title, r.Stacks[i].Unavailable, r.Stacks[i].Mend))
	}
	if err := errors.Join(r.asBefore(), r.nothingToCompare()); err != nil {
		return err
	}
	r.Plan, err = plan.Make(r.available(), r.Seed)
	return err
}

// id names the run: anew, or as it was.
func (r *Ready) id(s *store.Store) (string, error) {
	if r.Resume != nil {
		return r.Resume.ID, nil
	}
	return s.NewID()
}

// begin stores the run as soon as nothing of the request can be at fault any more, and before anything slow.
func (r *Ready) begin(s *store.Store, id string) (record.Run, error) {
	if r.Resume != nil {
		if err := r.sameHost(); err != nil {
			return record.Run{}, err
		}
		run := r.again()
		return run, s.UpdateRun(run)
	}
	run := record.Run{
		ID: id, Started: r.world.Now().UTC(), Status: record.Running, Seed: r.Seed, Preset: r.Experiment.Name,
		Version: r.Version, Host: r.Facts, Stacks: r.Stacks,
	}
	for _, n := range r.Neighbours {
		run.Host.Neighbours = append(run.Host.Neighbours, n.String())
	}
	return run, s.CreateRun(run, r.Experiment)
}

// platform finds out what the guests will run on, the accelerator above all, and makes a place for their sockets.
func (r *Ready) platform(ctx context.Context, id string, image *guest.Image, journal *revert.Journal, tell Teller) (rig.Config, error) {
	mark := id + "-" + r.world.Now().UTC().Format("150405.000")
	if _, err := journal.Add(revert.Marked(mark)); err != nil {
		return rig.Config{}, err
	}
	env := []string{revert.MarkEnv + "=" + mark}
	dir, err := journal.Scratch(socketParent(os.TempDir(), id))
	if err != nil {
		return rig.Config{}, err
	}
	choice, err := r.accelerator(ctx, accel.Request{
		Want: r.Accel, Binary: r.qemu, Caps: r.caps, Image: image, Dir: dir, Env: env,
		Cache: filepath.Join(r.CacheDir, "accel.json"), Log: tell.Note,
	})
	if err != nil {
		return rig.Config{}, err
	}
	r.daemons = &daemons{journal: journal, env: env, dir: dir, spdk: r.SPDK}
	fioVersion, err := r.world.Run(ctx, image.Fio, "--version")
	if err != nil {
		return rig.Config{}, err
	}
	h := &r.Facts
	h.Accelerator, h.AcceleratorReason = choice.Accel, choice.Reason
	h.QEMU, h.Fio, h.GuestKernel = r.caps.Version.String(), strings.TrimPrefix(strings.TrimSpace(string(fioVersion)), "fio-"), image.Release
	h.GuestCPUs, h.GuestMemory, h.VolumeSize = r.Experiment.Guest.CPUs, r.Experiment.Guest.Memory, r.Experiment.Size
	if choice.Accel == "" { // there is no guest
		h.GuestCPUs, h.GuestMemory, h.GuestKernel = 0, 0, ""
	}
	bios := ""
	if choice.Accel == accel.TCG { // with KVM, QEMU's own firmware is quick enough, and what most guests have
		bios = r.caps.Qboot
	}
	return rig.Config{
		Xen: r.xen(ctx), Runner: r.world.Runner,
		Plan: r.Plan, Image: image, Ioping: r.ioping, Fio: r.fio, QEMUImg: r.qemuImg, Binary: r.qemu, Bios: bios, Accel: choice.Accel,
		Dir: dir, Env: env, Journal: journal, Serve: r.daemons.serve, Note: tell.Note, Polite: r.Polite,
	}, nil
}

// accelerator finds out what QEMU's guests run on; domains of Xen run on Xen, and stacks on the host on nothing.
func (r *Ready) accelerator(ctx context.Context, q accel.Request) (accel.Choice, error) {
	stacks := r.Plan.Experiment.Stacks
	switch {
	case slices.ContainsFunc(stacks, func(s spec.Stack) bool { return !s.Xen() && !s.OnHost() }):
		return accel.Choose(ctx, q)
	case slices.ContainsFunc(stacks, spec.Stack.Xen):
		return accel.Choice{Accel: "xen"}, nil
	}
	return accel.Choice{}, nil
}

// xen is the Xen that this host runs under, nil where there is none or no stack asks for one.
func (r *Ready) xen(ctx context.Context) *xen.Host {
	if !slices.ContainsFunc(r.Plan.Experiment.Stacks, spec.Stack.Xen) {
		return nil
	}
	h, why, _ := xen.Look(ctx, "/", r.world.Runner)
	if why != "" {
		return nil
	}
	return &h
}

// socketParent is the folder for temporary files, or /tmp where a socket's path would be too long in it: 107 bytes are
// all that fit (unix(7)).
func socketParent(temp, id string) string {
	const names = 20 // bytes for the names of sockets, with room to spare
	if len(filepath.Join(temp, revert.ScratchName(id)))+names > 107 {
		return "/tmp"
	}
	return temp
}

// abandon stores why a run ended before its first window.
func (r *Ready) abandon(s *store.Store, run record.Run, ctx context.Context, cause error) (record.Run, error) {
	run.Status, run.Reason, run.Ended = record.Partial, cause.Error(), r.world.Now().UTC()
	if ctx.Err() != nil {
		run.Reason = "interrupted"
	}
	return run, errors.Join(cause, s.UpdateRun(run))
}
