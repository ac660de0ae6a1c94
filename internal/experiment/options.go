// Package experiment carries out one experiment on this host, from checked options to a stored run: it
// looks for faults before anything is touched, builds the guest, makes the volumes, measures, and undoes all it did.
package experiment

import (
	"github.com/iotax/iotax/internal/hostenv"
	"github.com/iotax/iotax/internal/measure"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/qemu/caps"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/store"
	"github.com/iotax/iotax/internal/sys"
)

// Options is what is asked. Paths are absolute; "" means: find it.
type Options struct {
	Experiment spec.Experiment
	Seed       uint64
	Resume     *record.Run // an interrupted run to go on with; its experiment and seed are the ones above
	Done       []record.Window

	Scratch string // folder for the volumes
	Device  string // block device to measure on instead
	Erase   bool   // the user said that Device may be erased
	Polite  bool
	SPDK    string // socket of a running target, or its program; "" for the one on PATH

	Accel                      string // "auto", "kvm" or "tcg"
	QEMU, Fio, Kernel, Modules string

	StateDir, CacheDir string
	Version            string // of iotax
}

// Teller is told what happens, for a person who waits.
type Teller interface {
	Note(line string)
	Stage(name string, done, total int64)
	Progress(p measure.Progress)
}

// Ready is an experiment that can be started: every tool is there, every stack is judged, and nothing has
// been touched yet.
type Ready struct {
	Options
	world sys.World
	host  hostenv.Host

	Plan        plan.Plan
	Stacks      []record.Stack // of the experiment, with what makes some of them unavailable
	Neighbours  []hostenv.Neighbour
	Storage     hostenv.Storage
	Facts       record.Host
	qemu        string
	qemuImg     string
	fio, ioping string
	caps        caps.Caps
	storage     *storages // makers of volumes; nil before they were needed
	daemons     *daemons  // that serve disks in QEMU's place
	placed      []placed  // volumes that were made
	warnings    []string  // about them
}

// sink is a run in its store, as measure needs it. It counts what its windows made the disk write.
type sink struct {
	*store.Store
	id      string
	written int64 // bytes, where they could be counted
}

func (s *sink) SaveWindow(w record.Window) error {
	if w.Evidence.DeviceWrite != nil {
		s.written += *w.Evidence.DeviceWrite
	}
	return s.Store.SaveWindow(s.id, w)
}
