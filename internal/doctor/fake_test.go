package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/iotax/iotax/internal/accel"
	"github.com/iotax/iotax/internal/experiment"
	"github.com/iotax/iotax/internal/guest/kernel"
	"github.com/iotax/iotax/internal/hostenv"
	"github.com/iotax/iotax/internal/qemu/caps"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/qmp"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// fake is a host that a test can change before it is examined.
type fake struct {
	Deps
	programs map[string]string // name -> path
	fio      string            // what fio --version prints
	caps     caps.Caps
	place    experiment.Place
	facts    record.Host
	root     fstest.MapFS
}

// healthy is a host on which everything is as one could wish.
func healthy(t *testing.T) *fake {
	e, err := spec.Preset("default")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{fio: "fio-3.39\n", caps: capable(t, e), root: fstest.MapFS{}, programs: map[string]string{}}
	for _, p := range []string{"qemu-system-x86_64", "qemu-img", "fio", "ioping", "apt-get"} {
		f.programs[p] = "/usr/bin/" + p
	}
	f.place = experiment.Place{
		Path: "/state/scratch", Existing: "/state", Filesystem: "ext4", Storage: hostenv.Storage{Devices: []string{"nvme0n1"}},
		Device: record.Device{Name: "nvme0n1", Model: "ACME 1000", WriteCache: "write back", Scheduler: "none"},
	}
	f.facts = record.Host{CPUs: 8, Memory: 32 << 30}
	f.Deps = Deps{
		Experiment: e, Root: f.root, LookPath: f.look,
		Run:      func(context.Context, ...string) ([]byte, error) { return []byte(f.fio), nil },
		Caps:     func(context.Context, string) (caps.Caps, error) { return f.caps, nil },
		Agent:    func() error { return nil },
		Kernel:   gives(kernel.Kernel{Release: "6.12.0", Image: "/boot/vmlinuz-6.12.0", Source: "host"}, nil, nil),
		Hopeless: func(caps.Caps) string { return "" },
		Boot:     boots(accel.Choice{Accel: accel.KVM}, nil),
		IOURing:  func() error { return nil },
		Place:    func() (experiment.Place, error) { return f.place, nil },
		Free:     func(string) (int64, error) { return 100 << 30, nil },
		Need:     func(e spec.Experiment) (int64, error) { return int64(len(e.Stacks)) * e.Size, nil },
		Store:    func() (string, error) { return "/state/iotax.db", nil },
		Dead:     func() ([]string, error) { return nil, nil },
		Running:  func() (string, error) { return "", nil },
		Facts:    func() record.Host { return f.facts },
		Load:     func() float64 { return 0.2 },
		Neighbours: func() ([]string, error) {
			return nil, nil
		},
	}
	return f
}

func (f *fake) look(program string) (string, error) {
	if path, ok := f.programs[program]; ok {
		return path, nil
	}
	return "", &exec.Error{Name: program, Err: exec.ErrNotFound}
}

// kvm puts a /dev/kvm on the host.
func (f *fake) kvm(mode fs.FileMode, uid, gid uint32) {
	f.root["dev/kvm"] = &fstest.MapFile{Mode: mode | fs.ModeDevice | fs.ModeCharDevice, Sys: &syscall.Stat_t{Uid: uid, Gid: gid}}
}

// file puts a text file on the host.
func (f *fake) file(path, text string) { f.root[path] = &fstest.MapFile{Data: []byte(text)} }

func gives(k kernel.Kernel, packages []string, err error) func(context.Context) (kernel.Kernel, []string, error) {
	return func(context.Context) (kernel.Kernel, []string, error) { return k, packages, err }
}

func boots(c accel.Choice, err error) func(context.Context, Programs) (accel.Choice, error) {
	return func(context.Context, Programs) (accel.Choice, error) { return c, err }
}

func noBoot(context.Context, Programs) (accel.Choice, error) {
	return accel.Choice{}, errors.New("no guest was to be booted")
}

// capable is a QEMU 10.0 that can do exactly what the stacks of an experiment need.
func capable(t *testing.T, e spec.Experiment) caps.Caps {
	c := caps.Caps{
		Accelerators: []string{"kvm", "tcg"}, Machines: []string{"pc", "q35"}, Properties: map[string][]string{},
		AIO: spec.AIOs, Version: qmp.Version{Major: 10, Micro: 13},
	}
	for _, s := range e.Stacks {
		if s.OnHost() || s.InsideGuest() { // no devices of QEMU's
			continue
		}
		need, err := cmdline.Needs(s)
		if err != nil {
			t.Fatal(err)
		}
		c.Drivers = append(c.Drivers, need.Drivers...)
		for device, properties := range need.Devices {
			c.Devices = append(c.Devices, device)
			c.Properties[device] = append(c.Properties[device], properties...)
		}
	}
	return c
}

// without takes a word from a list.
func without(list []string, word string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == word })
}
