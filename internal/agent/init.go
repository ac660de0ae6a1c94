package agent

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/wire"
)

// Init is PID 1: it mounts what the load generator needs, loads the modules that lead to the
// host's port (named by ChannelModules), serves, and powers off. It does not return.
func Init(ctx context.Context) {
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "iotax-agent:", err)
	}
	powerOff()
	select {} // PID 1 must not end: the kernel would panic
}

// ChannelModules is the file inside the guest that lists the modules without which the host cannot be reached.
const ChannelModules = "/modules/channel"

func run(ctx context.Context) error {
	for _, m := range []struct{ kind, at string }{
		{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"tmpfs", "/tmp"}, {"tmpfs", "/dev/shm"},
	} {
		if err := os.MkdirAll(m.at, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, m.at, m.kind, 0, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m.at, err)
		}
	}
	port, err := connect("/proc/cmdline")
	if err != nil {
		return err
	}
	defer port.Close()
	return Serve(ctx, port)
}

// portPatience is how long the host's port may take to appear.
const portPatience = 10 * time.Second

// connect opens the port to the host: the console that the kernel's command line names, else virtio-serial.
func connect(cmdline string) (io.ReadWriteCloser, error) {
	if name := consoleName(read(cmdline)); name != "" {
		return openConsole(filepath.Join("/dev", name), portPatience)
	}
	list, err := os.ReadFile(ChannelModules)
	if err != nil {
		return nil, err
	}
	pci := pciBus("/sys/bus/pci")
	pci.holdBack()
	if err := loadModules(wire.Load{Paths: strings.Fields(string(list))}); err != nil {
		return nil, err
	}
	pci.bindChannel()
	return openPort(portPatience)
}

// openPort waits for the port to appear and opens it.
func openPort(patience time.Duration) (*os.File, error) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		names, _ := filepath.Glob("/sys/class/virtio-ports/*/name")
		for _, name := range names {
			if read(name) != wire.PortName {
				continue
			}
			f, err := os.OpenFile("/dev/"+filepath.Base(filepath.Dir(name)), os.O_RDWR, 0)
			if err == nil {
				return f, nil
			}
		}
	}
	return nil, fmt.Errorf("no virtio-serial port named %s after %v", wire.PortName, patience)
}

// loadModules inserts modules in the given order. One that is there already is no fault.
func loadModules(q wire.Load) error {
	for _, path := range q.Paths {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		err = unix.FinitModule(int(f.Fd()), q.Parameters[strings.TrimSuffix(filepath.Base(path), ".ko")], 0)
		f.Close()
		if err != nil && err != unix.EEXIST {
			return fmt.Errorf("insert %s: %w", path, err)
		}
	}
	return nil
}

// powerOffSoon lets the answer reach the host before the guest ends.
func powerOffSoon() error {
	time.AfterFunc(20*time.Millisecond, powerOff)
	return nil
}

func powerOff() {
	unix.Sync()
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}
