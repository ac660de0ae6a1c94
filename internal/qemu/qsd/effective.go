package qsd

import (
	"context"
	"errors"
	"fmt"

	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/qemu/qmp"
)

// Effective is what a daemon says that it serves, and how the kernel shows that it has the volume open.
type Effective struct {
	Export   string        // "vhost-user-blk" or "nbd"
	Protocol qmp.BlockNode // the node that has the file or device open; Top for null-co
	Top      qmp.BlockNode // the node that is served
	Direct   *bool         // O_DIRECT on every descriptor of the volume, nil for null-co
	IOThread bool          // the daemon has an iothread
	AIO      proc.AIO      // of the process; to be asked after the disk has done I/O
}

// Effective asks the daemon and the kernel.
func (d *Daemon) Effective(ctx context.Context) (Effective, error) {
	var e Effective
	nodes, err := d.QMP.NamedBlockNodes(ctx)
	if err != nil {
		return e, err
	}
	for _, n := range nodes {
		if n.NodeName == d.disk.ProtocolNode() {
			e.Protocol = n
		}
		if n.NodeName == d.disk.Node() {
			e.Top = n
		}
	}
	if e.Export, err = d.served(ctx); err != nil {
		return e, err
	}
	if e.IOThread, err = d.hasIOThread(ctx); err != nil {
		return e, err
	}
	if e.AIO, err = proc.AsyncIO(d.Proc.PID()); err != nil || d.disk.Stack.Ceiling() {
		return e, err
	}
	files, err := proc.Effective(d.Proc.PID(), d.disk.Path)
	if err != nil {
		return e, err
	}
	direct := true
	for _, f := range files {
		direct = direct && f.Direct
	}
	e.Direct = &direct
	return e, nil
}

// served returns how the disk's topmost node is exported, "" when it is not.
func (d *Daemon) served(ctx context.Context) (string, error) {
	var exports []struct {
		Type string `json:"type"`
		Node string `json:"node-name"`
		Ends bool   `json:"shutting-down"`
	}
	if err := d.QMP.Call(ctx, "query-block-exports", nil, &exports); err != nil {
		return "", err
	}
	for _, e := range exports {
		if e.Node == d.disk.Node() && !e.Ends {
			return e.Type, nil
		}
	}
	return "", nil
}

// hasIOThread looks for the object: unlike QEMU, the daemon has no query-iothreads (7.2, 10.0).
func (d *Daemon) hasIOThread(ctx context.Context) (bool, error) {
	var objects []struct {
		Name string `json:"name"`
		Type string `json:"type"`
	}
	err := d.QMP.Call(ctx, "qom-list", map[string]string{"path": "/objects"}, &objects)
	var refused *qmp.Error
	if errors.As(err, &refused) && refused.Class == "DeviceNotFound" {
		return false, nil // there is not even the folder
	} else if err != nil {
		return false, err
	}
	for _, o := range objects {
		if o.Name == d.disk.IOThreadID() && o.Type == "child<iothread>" {
			return true, nil
		}
	}
	return false, nil
}

// noGuest answers for a process without vCPUs that does not tell its iothreads.
type noGuest struct{}

func (noGuest) CPUs(context.Context) ([]qmp.CPU, error)           { return nil, nil }
func (noGuest) IOThreads(context.Context) ([]qmp.IOThread, error) { return nil, nil }

// Threads returns the daemon's threads: main, and workers, an iothread among them.
func (d *Daemon) Threads(ctx context.Context) ([]proc.Thread, error) {
	return proc.Threads(ctx, d.Proc.PID(), noGuest{})
}

// Pin puts the daemon's threads where the policy wants QEMU's own that run no guest code.
func (d *Daemon) Pin(ctx context.Context, p proc.Policy) error {
	threads, err := d.Threads(ctx)
	if err != nil {
		return err
	}
	if err := proc.Pin(threads, p); err != nil {
		return fmt.Errorf("qemu-storage-daemon of disk %s: %w", d.disk.Serial, err)
	}
	return nil
}
