package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/accel"
	"github.com/iotax/iotax/internal/experiment"
	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/guest/kernel"
	"github.com/iotax/iotax/internal/hostenv"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/qemu/caps"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/store"
	"github.com/iotax/iotax/internal/sys"
)

// Options say what to judge this host for. Paths are absolute.
type Options struct {
	Experiment spec.Experiment
	Scratch    string // folder for the volumes, "" for the one inside the state folder
	StoreFile  string // name of the store inside the state folder
	Log        func(line string)
}

// here is this host, as the process of w sees it.
type here struct {
	Options
	world              sys.World
	host               hostenv.Host
	state, cache       string
	stateErr, cacheErr error // why there is no such folder
}

// Here asks this host.
func Here(w sys.World, o Options) Deps {
	h := here{Options: o, world: w}
	h.state, h.stateErr = w.StateDir()
	h.cache, h.cacheErr = w.CacheDir()
	return Deps{
		Experiment: o.Experiment, Root: os.DirFS("/"),
		LookPath: w.Runner.LookPath, Run: w.Run, Caps: h.caps, IOURing: h.host.IOURing,
		Lacks:  experiment.Lacks(w.Runner, experiment.Tools{}),
		Agent:  func() error { _, err := guest.Agent(); return err },
		Kernel: func(ctx context.Context) (kernel.Kernel, []string, error) { return kernel.Look(ctx, h.kernel()) },
		Boot:   h.boot, Hopeless: accel.Hopeless,
		Place: h.place, Free: provision.Free, Need: func(e spec.Experiment) (int64, error) { return experiment.Need(w, e) },
		Store: h.store, Dead: h.dead, Running: h.running,
		Facts: h.facts, Load: h.host.Load, Neighbours: h.neighbours,
	}
}

func (h here) caps(ctx context.Context, qemu string) (caps.Caps, error) {
	if h.cacheErr != nil {
		return caps.Caps{}, h.cacheErr
	}
	return caps.Cached(ctx, qemu, filepath.Join(h.cache, "caps"))
}

func (h here) kernel() kernel.Options { return kernel.Options{Root: "/", Cache: h.cache, Log: h.Log} }

// boot builds the guest of a run and finds the accelerator that it would have.
func (h here) boot(ctx context.Context, t Programs) (choice accel.Choice, err error) {
	image, err := guest.Build(ctx, guest.Options{Kernel: h.kernel(), Fio: t.Fio, Ioping: t.Ioping, Cache: h.cache, Log: h.Log})
	if err != nil {
		return choice, err
	}
	temp, err := revert.NewTemp(os.TempDir(), experiment.TrialPrefix)
	if err != nil {
		return choice, err
	}
	defer func() { err = errors.Join(err, temp.Close()) }()
	return accel.Choose(ctx, accel.Request{
		Want: "auto", Binary: t.QEMU, Caps: t.Caps, Image: image, Dir: temp.Dir,
		Cache: filepath.Join(h.cache, "accel.json"), Log: h.Log,
	})
}

func (h here) place() (experiment.Place, error) {
	folder := h.Scratch
	if folder == "" {
		if h.stateErr != nil {
			return experiment.Place{}, h.stateErr
		}
		folder = filepath.Join(h.state, "scratch")
	}
	return experiment.Look(h.host, folder)
}

// store opens the store where there is one, and says where it is. Where there is none it makes none: to look is not
// to change.
func (h here) store() (where string, err error) {
	if h.stateErr != nil {
		return "", h.stateErr
	}
	path := filepath.Join(h.state, h.StoreFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return path + ", which the first run makes", writable(h.state)
	}
	s, err := store.Open(path)
	if err != nil {
		return path, err
	}
	return path, s.Close()
}

// writable says why a folder, which may not exist yet, could not be written to.
func writable(dir string) error {
	for ; ; dir = filepath.Dir(dir) {
		err := unix.Access(dir, unix.W_OK|unix.X_OK)
		if errors.Is(err, unix.ENOENT) && dir != filepath.Dir(dir) {
			continue
		}
		if err != nil {
			return &fs.PathError{Op: "write to", Path: dir, Err: err}
		}
		return nil
	}
}

func (h here) dead() (runs []string, err error) {
	if h.stateErr != nil {
		return nil, nil // told by store
	}
	left, err := revert.Dead(filepath.Join(h.state, experiment.JournalFolder))
	for _, l := range left {
		runs = append(runs, l.Run)
	}
	return runs, err
}

func (h here) running() (string, error) {
	if h.stateErr != nil {
		return "", nil
	}
	return experiment.Running(h.state)
}

func (h here) facts() (facts record.Host) {
	h.host.Facts(&facts)
	return facts
}

func (h here) neighbours() (names []string, err error) {
	all, err := h.host.Neighbours(os.Getpid())
	for _, n := range all {
		names = append(names, n.String())
	}
	return names, err
}
