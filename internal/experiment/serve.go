package experiment

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/qemu/qsd"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/rig"
	"github.com/iotax/iotax/internal/spdk"
	"github.com/iotax/iotax/internal/spec"
)

// daemons starts the servers of disks that QEMU does not open itself.
type daemons struct {
	journal *revert.Journal
	env     []string
	dir     string       // for sockets
	spdk    string       // socket or program, "" for the one on PATH
	target  *spdk.Target // the one of this run; nil before a disk needed it
}

// serve implements rig.Serve.
func (v *daemons) serve(ctx context.Context, d cmdline.Disk, g spec.Guest) (rig.Server, error) {
	if d.Stack.Served() == "spdk" {
		return v.serveSPDK(ctx, d)
	}
	binary, err := qsd.Find("")
	if err != nil {
		return nil, err
	}
	daemon, err := qsd.Start(ctx, qsd.Config{
		Binary: binary, Disk: d, CPUs: g.CPUs, QMPSocket: filepath.Join(v.dir, d.Serial+".qmp"), Env: v.env,
	})
	if err != nil {
		return nil, err
	}
	return storageDaemon{daemon}, nil
}

// storageDaemon is a qemu-storage-daemon as the rig knows servers.
type storageDaemon struct{ *qsd.Daemon }

// PID is the process of which the rig counts what it takes.
func (s storageDaemon) PID() int { return s.Proc.PID() }

// Serving implements rig.Server.
func (s storageDaemon) Serving(ctx context.Context) (rig.Serving, error) {
	e, err := s.Effective(ctx)
	if err != nil {
		return rig.Serving{}, err
	}
	r := rig.Serving{Args: s.Args, Protocol: e.Protocol, Top: e.Top, Direct: e.Direct, AIO: &e.AIO, Fallbacks: s.Proc.Fallbacks(), Settings: map[string]string{"export": e.Export}}
	if e.IOThread {
		r.IOThreads = 1
	}
	return r, nil
}

// serveSPDK serves a disk by the run's one target, which is started with the first of them.
func (v *daemons) serveSPDK(ctx context.Context, d cmdline.Disk) (rig.Server, error) {
	if v.target == nil {
		if err := v.startTarget(ctx); err != nil {
			return nil, err
		}
	}
	if err := v.target.Lacks(d.Stack); err != nil {
		return nil, err
	}
	served, err := v.target.Serve(ctx, v.journal, d)
	if err != nil {
		return nil, err
	}
	return spdkDisk{v.target, served}, nil
}

func (v *daemons) startTarget(ctx context.Context) error {
	c, err := spdk.Find(v.spdk)
	if err != nil {
		return err
	}
	if c.Binary != "" {
		allowed, err := proc.Allowed()
		if err != nil {
			return err
		}
		// A reactor polls for as long as the target lives: it gets the CPU that has no vCPU, if there is one.
		c.CPUs = allowed[len(allowed)-1:]
		c.RPCSocket, c.VhostDir, c.Env = filepath.Join(v.dir, "spdk.rpc"), v.dir, v.env
	}
	v.target, err = spdk.Start(ctx, c)
	return err
}

// close ends the target that was started.
func (v *daemons) close() error {
	if v == nil || v.target == nil {
		return nil
	}
	return v.target.Close()
}

// spdkDisk is a disk of SPDK's as the rig knows servers.
type spdkDisk struct {
	target *spdk.Target
	disk   *spdk.Served
}

// Socket is where QEMU connects: SPDK chooses it.
func (s spdkDisk) Socket() string { return s.disk.Socket }

// Err implements rig.Server.
func (s spdkDisk) Err() error { return s.target.Err() }

// PID is that of the target, 0 where it is not known.
func (s spdkDisk) PID() int { return s.target.PID() }

// Pin implements rig.Server. SPDK's reactors pinned themselves when the target started.
func (spdkDisk) Pin(context.Context, proc.Policy) error { return nil }

// Serving implements rig.Server.
func (s spdkDisk) Serving(ctx context.Context) (rig.Serving, error) {
	e, err := s.disk.Effective(ctx)
	if err != nil {
		return rig.Serving{}, err
	}
	return rig.Serving{Args: s.target.Args, Direct: e.Direct, Settings: map[string]string{
		"served by": strings.TrimSpace(s.target.Version + ", " + e.Product), "flush": fmt.Sprint(e.Flush), "unmap": fmt.Sprint(e.Unmap), "reactor cores": e.Cores,
	}}, nil
}

// Close implements rig.Server.
func (s spdkDisk) Close() error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), undoPatience, errors.New("SPDK did not answer"))
	defer cancel()
	return s.disk.Close(ctx)
}
