// Package guest builds the guest (kernel and root file system, cached by their content) and talks to it.
package guest

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/guest/initrd"
	"github.com/iotax/iotax/internal/guest/kernel"
	"github.com/iotax/iotax/internal/guest/slim"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/sys"
)

//go:embed all:embedded
var embedded embed.FS

// Where programs lie inside the guest.
const (
	FioPath    = "/bin/fio"
	IopingPath = "/bin/ioping"
)

// channel are the modules without which the agent cannot be reached; driversOf has those of every
// bus that a stack may have. The agent loads only what a boot needs: some take seconds to start.
var (
	channel   = []string{"virtio_pci", "virtio_console"}
	driversOf = map[string][]string{
		"virtio-blk":         {"virtio_blk"},
		"virtio-scsi":        {"virtio_scsi", "sd_mod"},
		"virtio-scsi-single": {"virtio_scsi", "sd_mod"},
		"sata":               {"ahci", "sd_mod"},
		"ide":                {"ata_piix", "sd_mod"},
		"nvme":               {"nvme"},
		"lsi53c895a":         {"sym53c8xx", "sd_mod"},
		"megasas":            {"megaraid_sas", "sd_mod"},
		"pvscsi":             {"vmw_pvscsi", "sd_mod"},
		"blkfront":           {"xen_blkfront"},
		"vhost-user-blk":     {"virtio_blk"},
		"vhost-user-scsi":    {"virtio_scsi", "sd_mod"},
		"null_blk":           {"null_blk"},
	}
)

// schedulerOf are the modules of the I/O schedulers that a stack may ask for. none is in every kernel.
var schedulerOf = map[string][]string{
	"mq-deadline": {"mq_deadline"},
	"kyber":       {"kyber_iosched"},
	"bfq":         {"bfq"},
}

// Image is a guest ready to boot.
type Image struct {
	Kernel  string // path: an ELF vmlinux where it can be booted directly, else the distribution's image
	BzImage string // path of the distribution's own image, for a loader that takes no ELF
	Initrd  string
	Fio     string              // the copy of fio that is in the guest, to be run on the host too
	Release string              // of the kernel
	needs   map[string][]string // driver -> its modules in load order, built-in ones left out
}

// Options says what to build from. Paths are on the host.
type Options struct {
	Kernel kernel.Options
	Fio    string // path of the host's fio
	Ioping string // path of the host's ioping, "" when there is none
	Cache  string
	Log    func(string)
}

// Build returns the guest for the options, from the cache where the same was built before.
func Build(ctx context.Context, o Options) (*Image, error) {
	agentImage, err := Agent()
	if err != nil {
		return nil, err
	}
	k, err := kernel.Find(ctx, o.Kernel)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(o.Cache, "guest"), 0o755); err != nil {
		return nil, err
	}
	b := builder{o: o, k: k, agent: agentImage}
	im := &Image{Release: k.Release, BzImage: k.Image}
	if im.Fio, err = b.fio(ctx); err != nil {
		return nil, err
	}
	if im.Kernel, err = b.kernel(); err != nil {
		return nil, err
	}
	modules, err := im.collect(k)
	if err != nil {
		return nil, err
	}
	im.Initrd, err = b.initrd(im.Fio, modules)
	return im, err
}

// Agent is the program that becomes the guest's first process. It is missing from an iotax that was not built by
// the Makefile.
func Agent() ([]byte, error) {
	name := "embedded/agent-" + runtime.GOARCH
	image, err := embedded.ReadFile(name)
	if err != nil {
		return nil, errkind.Userf("this iotax was built without its guest agent (%s): build it with `make build`", name)
	}
	return image, nil
}

// collect reads the modules that the archive holds and notes what each driver needs.
func (im *Image) collect(k kernel.Kernel) ([]kernel.Module, error) {
	index, err := kernel.ReadIndex(k.Modules)
	if err != nil {
		return nil, err
	}
	modules, missing, err := index.Closure(channel...)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, errkind.Userf("kernel %s has no %v: the guest could not be reached; give another with --kernel and --modules", k.Release, missing)
	}
	packed := map[string]bool{}
	for _, m := range modules {
		packed[m.Name] = true
	}
	im.needs = map[string][]string{}
	wanted := maps.Clone(driversOf)
	maps.Copy(wanted, schedulerOf)
	for _, what := range slices.Sorted(maps.Keys(wanted)) {
		for _, driver := range wanted[what] {
			if _, done := im.needs[driver]; done {
				continue
			}
			need, missing, err := index.Closure(driver)
			if err != nil {
				return nil, err
			}
			if len(missing) > 0 {
				continue
			}
			names := []string{}
			for _, m := range need {
				names = append(names, m.Name)
				if !packed[m.Name] {
					packed[m.Name] = true
					modules = append(modules, m)
				}
			}
			im.needs[driver] = names
		}
	}
	return modules, nil
}

// Modules returns the module files inside the guest for the given drivers, each after those that it needs,
// and the drivers that this kernel does not have.
func (im *Image) Modules(names ...string) (paths, missing []string) {
	seen := map[string]bool{}
	for _, driver := range names {
		needs, ok := im.needs[driver]
		if !ok {
			missing = append(missing, driver)
		}
		for _, n := range needs {
			if !seen[n] {
				seen[n] = true
				paths = append(paths, initrd.ModulePath(n))
			}
		}
	}
	return paths, missing
}

// Drivers names the kernel modules that serve a bus.
func Drivers(bus string) []string { return driversOf[bus] }

// Scheduler names the kernel modules of an I/O scheduler.
func Scheduler(name string) []string { return schedulerOf[name] }

// TempPrefix begins the names of the folders, below <cache>/guest, in which parts of a guest are built.
const TempPrefix = ".build-"

type builder struct {
	o     Options
	k     kernel.Kernel
	agent []byte
}

// fio keeps a slim copy of the host's fio. Where the copy does not work, the original is used whole.
func (b builder) fio(ctx context.Context) (string, error) {
	image, err := os.ReadFile(b.o.Fio)
	if err != nil {
		return "", err
	}
	return b.cached("fio", "fio", func(h io.Writer) { h.Write(image) }, func(path string) error {
		small, dropped, err := slim.Elf(image)
		if err == nil && len(dropped) > 0 {
			if err := os.WriteFile(path, small, 0o755); err != nil {
				return err
			}
			if err = works(ctx, path); err == nil {
				return nil
			}
			if ctx.Err() != nil {
				return err // it was not tried to the end
			}
		}
		if err != nil {
			b.o.log("the guest gets fio with all its libraries: %v", err)
		}
		return os.WriteFile(path, image, 0o755)
	})
}

// works runs a tiny job, so that a copy that loads but cannot do I/O is found out here.
func works(ctx context.Context, fio string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	file := fio + ".try"
	defer os.Remove(file)
	_, err := sys.Exec{}.Run(ctx, sys.Command{Dir: filepath.Dir(fio), Argv: []string{
		fio, "--name=try", "--filename=" + filepath.Base(file),
		"--size=64k", "--bs=4k", "--rw=randrw", "--ioengine=libaio", "--iodepth=2", "--thread=1", "--output-format=json+",
	}})
	if err != nil {
		return fmt.Errorf("the slim copy of fio fails: %w", err)
	}
	return nil
}

// kernel extracts vmlinux where QEMU can boot it directly; elsewhere the image is booted as it is.
func (b builder) kernel() (string, error) {
	image, err := os.ReadFile(b.k.Image)
	if err != nil {
		return "", err
	}
	path, err := b.cached("kernel", "vmlinux", func(h io.Writer) { h.Write(image) }, func(path string) error {
		b.o.log("unpacking the guest kernel %s", b.k.Release)
		elfImage, err := kernel.Vmlinux(image)
		switch {
		case errors.Is(err, kernel.ErrNotBzImage) || (err == nil && !kernel.HasPVH(elfImage)):
			return os.WriteFile(path, image, 0o644)
		case err != nil:
			b.o.log("booting the kernel image as it is, which is slower: %v", err)
			return os.WriteFile(path, image, 0o644)
		}
		return os.WriteFile(path, elfImage, 0o644)
	})
	return path, err
}

func (b builder) initrd(fio string, modules []kernel.Module) (string, error) {
	c := initrd.Content{
		Agent: b.agent, Modules: modules, Channel: channel,
		Programs: []initrd.Program{{Source: fio, Target: FioPath}},
	}
	if b.o.Ioping != "" {
		c.Programs = append(c.Programs, initrd.Program{Source: b.o.Ioping, Target: IopingPath})
	}
	identity := func(h io.Writer) {
		fmt.Fprintln(h, "layout 1", b.k.Release, fio, b.o.Ioping)
		h.Write(b.agent)
		for _, m := range modules {
			fmt.Fprintln(h, m.Name, len(m.Data))
			h.Write(m.Data)
		}
	}
	return b.cached("initrd", "initrd.cpio", identity, func(path string) error {
		b.o.log("building the guest's root file system")
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		return errors.Join(initrd.Write(f, c), f.Close())
	})
}

// cached returns <cache>/guest/KIND-HASH/NAME, made by make when it is not there yet. The file appears
// whole or not at all; two builders at once do no harm.
func (b builder) cached(kind, name string, identity func(io.Writer), make func(path string) error) (string, error) {
	h := sha256.New()
	identity(h)
	dir := filepath.Join(b.o.Cache, "guest", kind+"-"+hex.EncodeToString(h.Sum(nil))[:16])
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	temp, err := revert.NewTemp(filepath.Join(b.o.Cache, "guest"), TempPrefix)
	if err != nil {
		return "", err
	}
	defer temp.Close() //nolint:errcheck // a folder that cannot be removed is left for Sweep
	work := temp.Dir
	if err := make(filepath.Join(work, name)); err != nil {
		return "", err
	}
	if err := os.Chmod(work, 0o755); err != nil {
		return "", err
	}
	if err := os.Rename(work, dir); err != nil {
		if _, statErr := os.Stat(path); statErr != nil {
			return "", err
		}
	}
	return path, nil
}

func (o Options) log(format string, args ...any) {
	if o.Log != nil {
		o.Log(fmt.Sprintf(format, args...))
	}
}
