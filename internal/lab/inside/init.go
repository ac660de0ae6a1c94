// Package inside is what runs in the lab: the first process of the machine, which brings it up as far as LVM, ZFS and
// Xen need a host to be, and the server that runs commands there. It is in the program that boots the lab, which
// puts itself into the machine's initial root file system.
package inside

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/agent"
)

// serveEnv marks the server's process.
const serveEnv = "IOTAX_LAB_SERVE"

// rootDisk is the machine's first virtio-blk disk.
const rootDisk = "/dev/vda"

// Main does this process's part when it runs inside the lab, and then does not return. Elsewhere it does nothing. A
// program that boots the lab calls it first of all.
func Main() {
	switch {
	case os.Getenv(serveEnv) != "":
		if err := serve(); err != nil {
			fmt.Fprintln(os.Stderr, "lab: server:", err)
			os.Exit(1)
		}
		os.Exit(0)
	case os.Getpid() == 1 && exists(agent.ChannelModules):
		if err := boot(); err != nil {
			fmt.Fprintln(os.Stderr, "lab: boot:", err)
		}
		unix.Sync()
		_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
		select {} // the first process must not end: the kernel would panic
	}
}

// boot mounts the root disk over the initial file system, starts the server there, and reaps what others leave behind.
func boot() error {
	if err := mountAll(kernelFilesystems); err != nil {
		return err
	}
	list, err := os.ReadFile(agent.ChannelModules)
	if err != nil {
		return err
	}
	for _, path := range strings.Fields(string(list)) {
		if err := loadModule(path); err != nil {
			return err
		}
	}
	if err := switchRoot(); err != nil {
		return err
	}
	if err := mountAll(hostFilesystems); err != nil {
		return err
	}
	server, err := os.StartProcess("/proc/self/exe", []string{"lab"}, &os.ProcAttr{
		Dir: "/root", Env: append([]string{serveEnv + "=yes"}, Environment...), Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
	})
	if err != nil {
		return err
	}
	for {
		pid, err := unix.Wait4(-1, nil, 0, nil)
		if pid == server.Pid || err != nil && err != unix.EINTR {
			return err
		}
	}
}

func loadModule(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.FinitModule(int(f.Fd()), "", 0); err != nil && err != unix.EEXIST {
		return fmt.Errorf("insert %s: %w", path, err)
	}
	return nil
}

type mount struct {
	kind, at, options string
}

// The file systems of the kernel move from the initial root to the disk's; the others are those of a running host.
var (
	kernelFilesystems = []mount{{"proc", "/proc", ""}, {"sysfs", "/sys", ""}, {"devtmpfs", "/dev", ""}}
	hostFilesystems   = []mount{
		{"tmpfs", "/run", "mode=755"},
		{"tmpfs", "/dev/shm", ""},
		{"devpts", "/dev/pts", "ptmxmode=666"},
		{"cgroup2", "/sys/fs/cgroup", ""},
	}
)

func mountAll(list []mount) error {
	for _, m := range list {
		if err := os.MkdirAll(m.at, 0o755); err != nil && !strings.HasPrefix(m.at, "/sys/") {
			return err
		}
		if err := unix.Mount(m.kind, m.at, m.kind, 0, m.options); err != nil {
			return fmt.Errorf("mount %s: %w", m.at, err)
		}
	}
	return nil
}

// switchRoot makes the disk's file system the root.
func switchRoot() error {
	const at = "/disk"
	if err := waitFor(rootDisk, 20*time.Second); err != nil {
		return err
	}
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(rootDisk, at, "ext4", unix.MS_NOATIME, "noinit_itable"); err != nil {
		return fmt.Errorf("mount %s: %w", rootDisk, err)
	}
	for _, m := range kernelFilesystems {
		if err := unix.Mount(m.at, at+m.at, "", unix.MS_MOVE, ""); err != nil {
			return fmt.Errorf("move %s: %w", m.at, err)
		}
	}
	if err := os.Chdir(at); err != nil {
		return err
	}
	return errors.Join(unix.Mount(".", "/", "", unix.MS_MOVE, ""), unix.Chroot("."), os.Chdir("/"))
}

func waitFor(path string, patience time.Duration) error {
	for end := time.Now().Add(patience); !exists(path); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("no %s after %v", path, patience)
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// comeUp does what a service manager does on a host: device nodes and their links by udev, the loopback interface,
// modules, and in dom0 the toolstack.
func comeUp() (xen bool, err error) {
	for name, target := range map[string]string{ // of /dev, which scripts of Xen and shells rely on
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	} {
		if err := os.Symlink(target, filepath.Join("/dev", name)); err != nil && !os.IsExist(err) {
			return false, err
		}
	}
	kind, _ := os.ReadFile("/sys/hypervisor/type")
	xen = strings.TrimSpace(string(kind)) == "xen"
	steps := [][]string{
		{"hostname", "-F", "/etc/hostname"},
		{"ip", "link", "set", "lo", "up"},
		{"/lib/systemd/systemd-udevd", "--daemon"},
		{"udevadm", "trigger", "--action=add", "--subsystem-match=block", "--subsystem-match=misc", "--subsystem-match=mem"},
		{"udevadm", "settle"},
		{"modprobe", "-a", "loop", "dm_mod", "zfs"},
	}
	if xen {
		steps = append(steps, []string{"/etc/init.d/xen", "start"})
	} else {
		steps = append(steps, []string{"modprobe", "kvm_amd"}) // QEMU emulates AMD's virtualization, and KVM works on it
	}
	for _, argv := range steps {
		out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
		if err != nil {
			return xen, fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out)
		}
	}
	return xen, nil
}
