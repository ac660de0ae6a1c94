package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/fio"
	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/guest/initrd"
	"github.com/iotax/iotax/internal/guest/kernel"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/qemu/qmp"
	"github.com/iotax/iotax/internal/vm/vmtest"
)

// script is /init of the guest that is made by hand: it takes job files line by line, runs fio after the line "run",
// and does nothing else. %s are the modules.
const script = `#!/bin/sh
export PATH=/bin
mkdir -p /proc /sys /tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /tmp
insert %s
until [ -c "$1" ]; do set -- /dev/vport*p1; done
until [ -b /dev/vda ]; do :; done
exec 3<>"$1"
echo ready >&3
while read -r line <&3; do
	if [ "$line" != run ]; then
		echo "$line" >>/tmp/job
		continue
	fi
	fio %s >&3 2>&1
	echo end >&3
	rm /tmp/job
done
`

// TestMain lets this very program insert modules in the guest that is made by hand, under the name of insert: not
// every host has insmod, and this is one program that surely is there.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "insert" {
		if err := insert(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func insert(paths []string) error {
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		if err := errors.Join(unix.FinitModule(int(f.Fd()), "", 0), f.Close()); err != nil {
			return fmt.Errorf("insert %s: %w", path, err)
		}
	}
	return nil
}

// handInitrd writes the root file system of the guest that is made by hand: the same fio and modules as ours, and a
// shell.
func handInitrd(b *testing.B, dir string, image *guest.Image) string {
	k, err := kernel.Find(b.Context(), kernel.Options{Root: "/", Cache: vmtest.CacheDir(b)})
	if err != nil {
		b.Skip(err)
	}
	index, err := kernel.ReadIndex(k.Modules)
	if err != nil {
		b.Fatal(err)
	}
	modules, missing, err := index.Closure("virtio_pci", "virtio_console", "virtio_blk")
	if err != nil || len(missing) > 0 {
		b.Fatalf("kernel %s: no %v: %v", k.Release, missing, err)
	}
	var paths []string
	for _, m := range modules {
		paths = append(paths, initrd.ModulePath(m.Name))
	}
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	programs := []initrd.Program{{Source: image.Fio, Target: guest.FioPath}, {Source: self, Target: "/bin/insert"}}
	for _, name := range []string{"sh", "mkdir", "mount", "rm"} {
		path, err := exec.LookPath(name)
		if err != nil {
			b.Skip(err)
		}
		programs = append(programs, initrd.Program{Source: path, Target: "/bin/" + name})
	}
	init := fmt.Sprintf(script, strings.Join(paths, " "), strings.Join(fio.Args("/tmp/job"), " "))
	path := filepath.Join(dir, "by-hand.cpio")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(initrd.Write(f, initrd.Content{Agent: []byte(init), Modules: modules, Programs: programs}), f.Close()); err != nil {
		b.Fatal(err)
	}
	return path
}

// byHand is a running guest without our agent.
type byHand struct {
	proc *proc.Process
	qmp  *qmp.Client
	port net.Conn
	from *bufio.Reader
}

// startByHand runs QEMU, waits for the script's first word, and pins the threads as vm.Pin does.
func startByHand(ctx context.Context, args []string, monitor, port string, vcpus int) (*byHand, error) {
	g := &byHand{}
	var err error
	if g.proc, err = proc.Start(proc.Config{Args: args}); err != nil {
		return nil, err
	}
	if err := g.connect(ctx, monitor, port, vcpus); err != nil {
		console := g.proc.Console()
		g.close()
		return nil, fmt.Errorf("the guest that is made by hand: %w\n%s", err, console)
	}
	return g, nil
}

func (g *byHand) connect(ctx context.Context, monitor, port string, vcpus int) error {
	var err error
	if g.qmp, err = qmp.Dial(ctx, monitor); err != nil {
		return err
	}
	if g.port, err = qmp.DialSocket(ctx, port); err != nil {
		return err
	}
	g.from = bufio.NewReader(g.port)
	if err := g.until(ctx, "ready", nil); err != nil {
		return err
	}
	allowed, err := proc.Allowed()
	if err != nil {
		return err
	}
	threads, err := proc.Threads(ctx, g.proc.PID(), g.qmp)
	if err != nil {
		return err
	}
	return proc.Pin(threads, proc.Decide(allowed, vcpus))
}

// until reads lines into out up to the one that is awaited.
func (g *byHand) until(ctx context.Context, last string, out *strings.Builder) error {
	stop := context.AfterFunc(ctx, func() { g.port.Close() })
	defer stop()
	for {
		line, err := g.from.ReadString('\n')
		if err != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		if strings.TrimSpace(line) == last {
			return nil
		}
		if out != nil {
			out.WriteString(line)
		}
	}
}

func (g *byHand) run(ctx context.Context, w workload, job string) ([]byte, error) {
	if _, err := fmt.Fprintf(g.port, "%srun\n", job); err != nil {
		return nil, err
	}
	var out strings.Builder
	err := g.until(ctx, "end", &out)
	return []byte(out.String()), err
}

func (g *byHand) monitor() *qmp.Client { return g.qmp }

func (g *byHand) close() error {
	if g.port != nil {
		g.port.Close()
	}
	err := g.proc.Stop(g.qmp)
	if g.qmp != nil {
		g.qmp.Close()
	}
	return err
}
