// Package spdk has SPDK's target serve disks to a guest over vhost-user-blk and vhost-user-scsi: it starts spdk_tgt
// or uses one that runs, and drives it by its JSON-RPC.
package spdk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/spdk/jsonrpc"
)

// patience bounds a start: SPDK maps its huge pages and zeroes them, a second for each GiB.
const patience = 30 * time.Second

const install = "build SPDK (github.com/spdk/spdk: ./configure && make) and put build/bin/spdk_tgt on PATH, or name its binary or the socket of one that runs"

// Config is one target. Either Binary or, for a target that runs already, only RPCSocket is set.
type Config struct {
	Binary    string // spdk_tgt's path, the first argument
	RPCSocket string // of its JSON-RPC
	VhostDir  string // folder in which it makes the sockets of its disks; for a running target "" = where it says
	CPUs      []int  // host CPUs on which its reactors poll, each busy for as long as the target lives
	Env       []string
}

// Find resolves what the user named: "" means spdk_tgt on PATH, else a binary, or the socket of a target that runs.
func Find(name string) (c Config, err error) {
	if st, err := os.Stat(name); err == nil && st.Mode()&os.ModeSocket != 0 {
		c.RPCSocket, err = filepath.Abs(name)
		return c, err
	}
	if name == "" {
		name = "spdk_tgt"
	}
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return c, errkind.WithHint(errkind.Userf("no SPDK: %w", err), install)
	}
	c.Binary = path
	return c, nil
}

// Args returns the target's argv. It leaves the host's PCI devices alone (-u), and takes its huge pages away from
// their file system as soon as it has them (-R), so that they are free again however it ends.
func Args(c Config) ([]string, error) {
	var faults errkind.List
	if c.Binary == "" {
		faults = append(faults, errkind.Userf("no SPDK binary"))
	}
	if len(c.CPUs) == 0 {
		faults = append(faults, errkind.Userf("no CPU for SPDK's reactors"))
	}
	if n := len(c.RPCSocket); n == 0 || n > cmdline.MaxSocket {
		faults = append(faults, errkind.Userf("SPDK's socket has a path of %d bytes: want 1 to %d", n, cmdline.MaxSocket))
	}
	if c.VhostDir == "" {
		faults = append(faults, errkind.Userf("no folder for the sockets of SPDK's disks"))
	}
	var cpus []string
	for _, n := range c.CPUs {
		cpus = append(cpus, strconv.Itoa(n))
	}
	return []string{
		c.Binary, "-r", c.RPCSocket, "-S", c.VhostDir, "-m", "[" + strings.Join(cpus, ",") + "]",
		"-s", strconv.Itoa(memory >> 20), "-u", "-R",
	}, faults.Err()
}

// Target is a running target of SPDK.
type Target struct {
	Proc    *proc.Process // nil for a target that iotax did not start
	Args    []string      // of one that it did
	Version string        // such as "SPDK v24.01"
	rpc     *jsonrpc.Client
	config  Config
	methods []string
	closing atomic.Bool
}

// Start runs a target, or connects to the one that Find found, and returns when it takes commands.
// What was started is ended again on failure, and dies with iotax, as QEMU does.
func Start(ctx context.Context, c Config) (*Target, error) {
	t := &Target{config: c}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("SPDK does not answer at %s within %v", c.RPCSocket, patience))
	defer cancel()
	if c.Binary != "" {
		var err error
		if t.Args, err = Args(c); err != nil {
			return nil, err
		}
		os.Remove(c.RPCSocket) // of an earlier target that was killed
		if t.Proc, err = proc.Start(proc.Config{Name: "spdk_tgt", Args: t.Args, Env: c.Env}); err != nil {
			return nil, err
		}
		guarded, unguard := proc.Guard(ctx, t.Proc.Done(), t.Proc.Err)
		defer unguard()
		ctx = guarded
	}
	if err := t.connect(ctx); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		t.Close()
		return nil, err
	}
	return t, nil
}

// connect waits for the socket of a target that was just started, and asks what the target can do.
func (t *Target) connect(ctx context.Context) (err error) {
	for {
		t.rpc, err = jsonrpc.Dial(ctx, t.config.RPCSocket)
		early := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
		if err == nil {
			break
		}
		if t.Proc == nil && early {
			return errkind.WithHint(errkind.Userf("no SPDK answers at %s: %w", t.config.RPCSocket, err), "start spdk_tgt, or name another socket")
		}
		if !early {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
	// It listens before its parts are there. Versions before 20.01 do not know this call; Lacks tells them apart.
	if err := t.rpc.Call(ctx, "framework_wait_init", nil, nil); err != nil && !jsonrpc.NotFound(err) {
		return err
	}
	var version struct {
		Version string `json:"version"`
	}
	err = t.rpc.Call(ctx, "spdk_get_version", nil, &version)
	if t.Version = version.Version; jsonrpc.NotFound(err) {
		t.Version, err = "this SPDK", nil
	}
	if err != nil {
		return err
	}
	return t.rpc.Call(ctx, "rpc_get_methods", nil, &t.methods)
}

// PID returns the target's process id, 0 when it cannot be told.
func (t *Target) PID() int { return t.rpc.PID() }

// politeWait is how long a target may take to put its parts away before it is ended like any other process.
const politeWait = 5 * time.Second

// Err returns why the target ended, nil while it lives, when its end was asked for, and when it is not iotax's.
func (t *Target) Err() error {
	if t.Proc == nil || t.closing.Load() {
		return nil
	}
	if err := t.Proc.Err(); err != nil {
		return fmt.Errorf("the server of SPDK's disks has ended: %w", err)
	}
	return nil
}

// Guard returns a context that ends also with a target of iotax's own, Err being its cause.
func (t *Target) Guard(ctx context.Context) (context.Context, context.CancelFunc) {
	if t.Proc == nil {
		return context.WithCancel(ctx)
	}
	return proc.Guard(ctx, t.Proc.Done(), t.Err)
}

// Close leaves a running target, and ends one that was started, with the sockets of its disks. QEMU must have ended
// before. It may be called again.
func (t *Target) Close() error {
	if t.rpc != nil {
		t.rpc.Close()
	}
	if t.Proc == nil {
		return nil
	}
	t.closing.Store(true)
	select {
	case <-t.Proc.Done():
	default:
		_ = syscall.Kill(t.Proc.PID(), syscall.SIGTERM) // where this fails it is just ending
		select {
		case <-t.Proc.Done():
		case <-time.After(politeWait):
		}
	}
	err := t.Proc.Stop(nil)
	os.Remove(t.config.RPCSocket)
	os.Remove(fmt.Sprintf("/dev/shm/spdk_tgt_trace.pid%d", t.Proc.PID())) // memory of the host, if it was killed
	return err
}
