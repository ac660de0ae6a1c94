package experiment

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/hostenv"
	"github.com/iotax/iotax/internal/provision/filesystem"
	"github.com/iotax/iotax/internal/provision/lvm"
	"github.com/iotax/iotax/internal/provision/zfs"
	"github.com/iotax/iotax/internal/qemu/qsd"
	"github.com/iotax/iotax/internal/spdk"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
	"github.com/iotax/iotax/internal/xen"
	"github.com/iotax/iotax/internal/xen/xlcfg"
)

// Tools is what a run works with beside QEMU. What is "" is looked for on PATH.
type Tools struct {
	Device  string // block device of the run, "" for a folder
	SPDK    string // socket or program of a target
	Fio     string
	QEMUImg string
}

// Lacks are what stacks may miss beside QEMU: storage, daemons, programs that make loads, another hypervisor.
func Lacks(run sys.Runner, t Tools) []Lack {
	server := servers{spdk: t.SPDK}
	beside := generators{run: run, fio: first(t.Fio, "fio"), qemuImg: first(t.QEMUImg, "qemu-img")}
	var domains hypervisor
	return []Lack{
		func(ctx context.Context, s spec.Stack, _ spec.Guest) (reason, mend string) {
			return storageLacks(ctx, run, t.Device, s)
		},
		server.lacks,
		beside.lacks,
		func(ctx context.Context, s spec.Stack, g spec.Guest) (reason, mend string) {
			return domains.lacks(ctx, run, s, g)
		},
	}
}

// storageLacks says why this host has no such storage.
func storageLacks(ctx context.Context, run sys.Runner, device string, s spec.Stack) (reason, mend string) {
	install := func(programs ...string) string { return hostenv.InstallCommand(run.LookPath, programs...) }
	switch s.Storage {
	case "lvm", "lvm-thin":
		reason, program, mend := lvm.Missing(run, s)
		if program != "" {
			mend = install(program)
		}
		if reason != "" {
			return reason, mend
		}
	case "zfs-file", "zvol":
		lack := zfs.Missing(ctx, run)
		if len(lack.Programs) > 0 {
			lack.Mend = install(lack.Programs...)
		}
		if lack.Reason != "" {
			return lack.Reason, lack.Mend
		}
	}
	if s.File() {
		return "", ""
	}
	if s.Pool == "" && device == "" {
		if _, err := os.Stat("/dev/loop-control"); err != nil {
			return "there is no loop device here, and no spare disk was given", "give one with --device, or load the kernel's module loop"
		}
	}
	if os.Geteuid() != 0 && !s.Ceiling() && s.Storage == "device" {
		return "only root can make block devices", "run iotax as root"
	}
	return "", ""
}

// filesystemLacks says why no file system can be made on the run's device.
func filesystemLacks(run sys.Runner) error {
	const program = "mkfs." + filesystem.Type
	if _, err := run.LookPath(program); err != nil {
		return errkind.WithHint(errkind.Userf("%s is missing: the files of this experiment need a file system on the device", program),
			"%s", hostenv.InstallCommand(run.LookPath, program))
	}
	return nil
}

// servers knows the daemons that serve disks in QEMU's place.
type servers struct {
	spdk  string              // socket or program, "" for the one on PATH
	tried map[trial][2]string // what qemu-storage-daemon can serve
}

// trial is what decides whether qemu-storage-daemon can serve a stack.
type trial struct{ bus, protocol, cache, aio string }

// lacks says why nothing here serves a stack's disk.
func (v *servers) lacks(ctx context.Context, s spec.Stack, g spec.Guest) (reason, mend string) {
	switch s.Served() {
	case "spdk":
		if reason, mend = spdk.Refuses(s); reason != "" {
			return reason, mend
		}
		if g.Hugepages == 0 {
			return "SPDK registers its guest's memory in pages of 2 MiB, and the guest is given none", "hugepages: 2MiB of this stack in the experiment"
		}
		c, err := spdk.Find(v.spdk)
		if err != nil {
			return apart(err)
		}
		if c.Binary == "" { // a target that runs has its huge pages
			return "", ""
		}
		return apart(spdk.CheckHugepages(g.Memory))
	case "qemu-storage-daemon":
		return v.tryDaemon(ctx, s)
	}
	return "", ""
}

func (v *servers) tryDaemon(ctx context.Context, s spec.Stack) (reason, mend string) {
	binary, err := qsd.Find("")
	if err != nil {
		return apart(err)
	}
	t := trial{s.Bus, s.Protocol, s.Cache, s.AIO}
	if known, ok := v.tried[t]; ok {
		return known[0], known[1]
	}
	if reason, mend, err = qsd.Supports(ctx, binary, s, os.TempDir()); err != nil {
		return apart(err)
	}
	if v.tried == nil {
		v.tried = map[trial][2]string{}
	}
	v.tried[t] = [2]string{reason, mend}
	return reason, mend
}

// apart parts an error into what is wrong and what mends it.
func apart(err error) (reason, mend string) {
	if err == nil {
		return "", ""
	}
	var kind *errkind.Error
	if errors.As(err, &kind) && kind.Hint != "" {
		return kind.Err.Error(), kind.Hint
	}
	return err.Error(), ""
}

// hypervisor knows the Xen of this host, once it was asked.
type hypervisor struct {
	asked     bool
	host      xen.Host
	why, mend string
}

// lacks says why there is no Xen here that could offer a stack.
func (h *hypervisor) lacks(ctx context.Context, run sys.Runner, s spec.Stack, g spec.Guest) (reason, mend string) {
	if !s.Xen() {
		return "", ""
	}
	if !h.asked {
		h.host, h.why, h.mend = xen.Look(ctx, "/", run)
		h.asked = true
	}
	if h.why != "" {
		return h.why, h.mend
	}
	vdev := "xvda"
	if s.Bus == "ide" {
		vdev = "hda"
	}
	disk := xlcfg.Disk{VDev: vdev, Path: "/volume", Format: s.Format, Backend: s.Backend}
	return h.host.Lacks(strings.TrimPrefix(s.Hypervisor, "xen-"), g.Memory, disk)
}
