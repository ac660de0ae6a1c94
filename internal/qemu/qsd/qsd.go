package qsd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/qemu/qmp"
)

// patience bounds a start: a tenth of a second is usual, a busy host may need more.
const patience = 20 * time.Second

// Daemon is a running qemu-storage-daemon.
type Daemon struct {
	QMP  *qmp.Client
	Proc *proc.Process
	Args []string
	disk cmdline.Disk
	made []string // sockets
}

// Start runs a daemon and returns when it serves its disk. Whatever was started is ended again on failure. The
// process bears Config.Env and dies with iotax, as QEMU does.
func Start(ctx context.Context, c Config) (*Daemon, error) {
	d := &Daemon{disk: c.Disk, made: []string{c.QMPSocket, c.Disk.Socket}}
	var err error
	if d.Args, err = Args(c); err != nil {
		return nil, err
	}
	d.removeSockets() // of an earlier daemon that was killed
	if d.Proc, err = proc.Start(proc.Config{Name: "qemu-storage-daemon", Args: d.Args, Env: c.Env}); err != nil {
		return nil, fmt.Errorf("serving disk %s: %w", c.Disk.Serial, err)
	}
	if err := d.ready(ctx, c.QMPSocket); err != nil {
		d.Close()
		return nil, fmt.Errorf("serving disk %s: %w", c.Disk.Serial, err)
	}
	return d, nil
}

// ready waits until the daemon says that it serves its disk. It carries out its arguments in their order before it
// answers its monitor, so by then it listens; asked at the disk's own socket, it would take us for its one client.
func (d *Daemon) ready(ctx context.Context, monitor string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("qemu-storage-daemon does not answer within %v", patience))
	defer cancel()
	ctx, unguard := proc.Guard(ctx, d.Proc.Done(), d.Proc.Err)
	defer unguard()
	err := d.ask(ctx, monitor)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	if errors.Is(err, qmp.ErrClosed) { // it is just ending
		<-d.Proc.Done()
		return d.Proc.Err()
	}
	return err
}

func (d *Daemon) ask(ctx context.Context, monitor string) (err error) {
	if d.QMP, err = qmp.Dial(ctx, monitor); err != nil {
		return fmt.Errorf("qemu-storage-daemon's monitor: %w", err)
	}
	served, err := d.served(ctx)
	if err == nil && served == "" {
		err = errors.New("qemu-storage-daemon runs, but serves nothing")
	}
	return err
}

// Err returns why the daemon ended, nil while it lives and when its end was asked for.
func (d *Daemon) Err() error {
	if err := d.Proc.Err(); err != nil {
		return fmt.Errorf("the server of disk %s has ended: %w", d.disk.Serial, err)
	}
	return nil
}

// Guard returns a context that ends also with the daemon, Err being its cause. Without its server a disk answers
// with errors (NBD) or not at all (vhost-user).
func (d *Daemon) Guard(ctx context.Context) (context.Context, context.CancelFunc) {
	return proc.Guard(ctx, d.Proc.Done(), d.Err)
}

// Close ends the daemon within a second and a half, and removes its sockets. It may be called again. QEMU must have
// ended before, or its disk fails.
func (d *Daemon) Close() error {
	err := d.Proc.Stop(d.QMP)
	if d.QMP != nil {
		d.QMP.Close()
	}
	d.removeSockets()
	return err
}

func (d *Daemon) removeSockets() {
	for _, path := range d.made {
		if path != "" {
			os.Remove(path)
		}
	}
}
