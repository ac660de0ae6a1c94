package doctor

import (
	"context"
	"io/fs"

	"github.com/iotax/iotax/internal/accel"
	"github.com/iotax/iotax/internal/experiment"
	"github.com/iotax/iotax/internal/guest/kernel"
	"github.com/iotax/iotax/internal/qemu/caps"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// Deps is how a host is asked. Here asks the real one; a test answers as it likes. Every field must be set.
type Deps struct {
	Experiment spec.Experiment // what the default run would measure
	Root       fs.FS           // the host's files

	LookPath func(program string) (string, error)
	Run      func(ctx context.Context, argv ...string) ([]byte, error)
	Caps     func(ctx context.Context, qemu string) (caps.Caps, error)
	Agent    func() error // nil when the guest's agent is in this program
	Kernel   func(ctx context.Context) (found kernel.Kernel, packages []string, err error)
	Hopeless func(c caps.Caps) string // why KVM cannot work, without a trial; "" when only that can tell
	Boot     func(ctx context.Context, t Programs) (accel.Choice, error)
	IOURing  func() error
	Lacks    []experiment.Lack // what stacks may miss beside QEMU

	Place func() (experiment.Place, error)
	Free  func(dir string) (int64, error)
	Need  func(e spec.Experiment) (int64, error)

	Store   func() (where string, err error)
	Dead    func() (runs []string, err error)  // whose changes were not undone
	Running func() (process string, err error) // "" when no other iotax is measuring

	Facts      func() record.Host
	Load       func() float64 // average of the last minute
	Neighbours func() ([]string, error)
}

// Programs are what a trial of the accelerator needs.
type Programs struct {
	QEMU, Fio, Ioping string // paths; Ioping may be empty
	Caps              caps.Caps
}
