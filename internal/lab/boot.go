package lab

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/iotax/iotax/internal/guest/initrd"
	"github.com/iotax/iotax/internal/guest/kernel"
	"github.com/iotax/iotax/internal/lab/inside"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/revert"
)

// What a machine gets that is not asked for more.
const (
	DefaultMemory = 2 << 30 // bytes
	DefaultCPUs   = 2
)

// bootPatience bounds a boot: some 10 s on a quiet host, 30 s with Xen.
const bootPatience = 5 * time.Minute

// drivers lead to the root disk, to the owner's port and to the shared folders; ext4 asks for its checksum by another name
// than a module's.
var drivers = []string{"virtio_pci", "virtio_blk", "crc32c_generic", "ext4", "virtio_console", "9p", "9pnet_virtio"}

// Config is one machine. Its root disk is as it was built; what is written there goes with the machine.
type Config struct {
	Xen       bool    // boot under Xen: commands run in dom0
	Memory    int64   // bytes; 0 = DefaultMemory
	CPUs      int     // 0 = DefaultCPUs
	Disks     []int64 // bytes of the scratch disks /dev/vdb, /dev/vdc and so on
	Shares    []Share
	OnConsole func(line string) // told every line of the console
}

// Share is a folder of this host that is seen inside the machine.
type Share struct {
	Dir, Path string // on the host, inside
	ReadOnly  bool
}

// Start boots the machine of the part Host that lies in dir, and returns when commands can be run.
func Start(ctx context.Context, dir string, c Config) (*Machine, error) {
	temp, err := revert.NewTemp(cmp.Or(os.Getenv("TMPDIR"), "/var/tmp"), "iotax-lab-")
	if err != nil {
		return nil, err
	}
	m := newMachine(temp)
	ctx, cancel := context.WithTimeoutCause(ctx, bootPatience, fmt.Errorf("the lab did not come up within %v", bootPatience))
	defer cancel()
	if err := m.start(ctx, dir, c); err != nil {
		err = m.explain(err)
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

func (m *Machine) start(ctx context.Context, dir string, c Config) error {
	c.Memory, c.CPUs = cmp.Or(c.Memory, DefaultMemory), cmp.Or(c.CPUs, DefaultCPUs)
	if err := writeInitrd(filepath.Join(m.temp.Dir, "initrd"), filepath.Join(dir, "modules")); err != nil {
		return err
	}
	for i, size := range c.Disks {
		f, err := os.Create(diskPath(m.temp.Dir, i))
		if err != nil {
			return err
		}
		if err := errors.Join(f.Truncate(size), f.Close()); err != nil {
			return err
		}
	}
	var err error
	m.proc, err = proc.Start(proc.Config{Args: arguments(dir, m.temp.Dir, c), OnConsole: c.OnConsole})
	if err != nil {
		return err
	}
	if err := m.connect(ctx); err != nil {
		return err
	}
	for i, s := range c.Shares {
		q := inside.Mount{Tag: shareTag(i), Path: s.Path, ReadOnly: s.ReadOnly}
		if _, err := m.call(ctx, inside.OpMount, q, nil); err != nil {
			return err
		}
	}
	return nil
}

// writeInitrd makes the initial root file system: this program and the modules that it loads as the machine's first
// process.
func writeInitrd(path, modules string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	image, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	if err := static(image); err != nil {
		return fmt.Errorf("%s: %w", self, err)
	}
	index, err := kernel.ReadIndex(modules)
	if err != nil {
		return err
	}
	needed, missing, err := index.Closure(drivers...)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("the lab's kernel has no %v", missing)
	}
	c := initrd.Content{Agent: image, Modules: needed}
	for _, module := range needed {
		c.Channel = append(c.Channel, module.Name)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(initrd.Write(f, c), f.Close())
}

// static refuses a program that the machine could not start, since its loader is not there.
func static(image []byte) error {
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return err
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return errors.New("the program is to be the lab's first process and is not static: build it with CGO_ENABLED=0")
		}
	}
	return nil
}
