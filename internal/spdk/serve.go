package spdk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/revert"
)

// sector is the block size that a file is served with; of a device SPDK asks the kernel.
const sector = 512

// Served is a disk that a target serves.
type Served struct {
	Socket string // where QEMU connects
	target *Target
	name   string // of the bdev and of its controller
	disk   cmdline.Disk
	j      *revert.Journal
	undo   []made
}

// made is one thing in the target and how it goes away.
type made struct {
	entry  revert.Entry
	method string
	params map[string]any
}

// Serve has the target open the disk's volume and serve it, whole. Of what it makes, each step is in the journal
// before it is made; when one fails, the ones before it are undone. Bdev and controller are named after the run and the
// disk's serial, so that nobody else's can be meant. Disk.Socket is not looked at: SPDK makes the socket where it was
// told at its start, and Served.Socket says where that is.
func (t *Target) Serve(ctx context.Context, j *revert.Journal, d cmdline.Disk) (*Served, error) {
	if err := checkDisk(d); err != nil {
		return nil, err
	}
	if err := t.Lacks(d.Stack); err != nil {
		return nil, err
	}
	s := &Served{target: t, name: j.Run() + "-" + d.Serial, disk: d, j: j}
	if err := s.make(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("serving disk %s: %w", d.Serial, err), s.Close(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func (s *Served) make(ctx context.Context) error {
	d := s.disk
	b := bdevOf(d.Stack)
	if err := s.step(ctx, b.create, s.bdevParams(), b.delete, map[string]any{"name": s.name}); err != nil {
		return err
	}
	controller := map[string]any{"ctrlr": s.name}
	if d.Stack.Bus == "vhost-user-scsi" {
		if err := s.step(ctx, "vhost_create_scsi_controller", controller, "vhost_delete_controller", controller); err != nil {
			return err
		}
		target := map[string]any{"ctrlr": s.name, "scsi_target_num": 0, "bdev_name": s.name}
		remove := map[string]any{"ctrlr": s.name, "scsi_target_num": 0}
		if err := s.step(ctx, "vhost_scsi_controller_add_target", target, "vhost_scsi_controller_remove_target", remove); err != nil {
			return err
		}
	} else {
		disk := map[string]any{"ctrlr": s.name, "dev_name": s.name}
		if err := s.step(ctx, "vhost_create_blk_controller", disk, "vhost_delete_controller", controller); err != nil {
			return err
		}
	}
	return s.findSocket(ctx)
}

func (s *Served) bdevParams() map[string]any {
	d := s.disk
	p := map[string]any{"name": s.name}
	switch {
	case d.Stack.Ceiling():
		p["num_blocks"], p["block_size"] = d.Size/sector, sector
	case d.Block:
		p["filename"] = d.Path
	default:
		p["filename"], p["block_size"] = d.Path, sector
	}
	return p
}

// step makes one thing after its undoing is in the journal.
func (s *Served) step(ctx context.Context, method string, params map[string]any, undo string, undoParams map[string]any) error {
	e, err := s.j.Add(revert.SPDK(s.target.config.RPCSocket, undo, s.name))
	if err != nil {
		return err
	}
	if err := s.target.rpc.Call(ctx, method, params, nil); err != nil {
		if refused(err) {
			return errors.Join(err, s.j.Forget(e))
		}
		return err // it may have been made: the journal knows
	}
	s.undo = append(s.undo, made{e, undo, undoParams})
	return nil
}

// findSocket takes the socket's place from the target itself, which versions before 19.01 did not tell.
func (s *Served) findSocket(ctx context.Context) error {
	c, err := s.target.controller(ctx, s.name)
	if err != nil {
		return err
	}
	if s.Socket = c.Socket; s.Socket == "" {
		s.Socket = filepath.Join(s.target.config.VhostDir, s.name)
	}
	if !filepath.IsAbs(s.Socket) { // as the target wrote it, whose folder that is relative to
		cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", s.target.PID()))
		if err != nil {
			return fmt.Errorf("finding the socket %s of SPDK: %w", s.Socket, err)
		}
		s.Socket = filepath.Join(cwd, s.Socket)
	}
	return nil
}

// Close has the target forget the disk, the last step first. QEMU must have ended before.
func (s *Served) Close(ctx context.Context) error {
	var faults []error
	for len(s.undo) > 0 {
		last := s.undo[len(s.undo)-1]
		s.undo = s.undo[:len(s.undo)-1]
		if err := s.target.delete(ctx, last); err != nil {
			faults = append(faults, err)
			continue // it stays in the journal
		}
		faults = append(faults, s.j.Forget(last.entry))
	}
	return errors.Join(faults...)
}

// Effective is what a target says of a disk that it serves, and how the kernel shows that it has the volume open.
type Effective struct {
	Product   string // kind of the bdev, such as "AIO disk"
	Size      int64  // bytes
	BlockSize int64  // bytes
	Flush     bool   // a flush of the guest reaches the volume: SPDK's uring bdev has none
	Unmap     bool
	Cores     string // mask of the host CPUs whose reactors serve the disk
	Direct    *bool  // O_DIRECT on every descriptor of the volume; nil for null bdevs, and where the process is not known
}

// Effective asks the target and the kernel.
func (s *Served) Effective(ctx context.Context) (Effective, error) {
	var e Effective
	var found []struct {
		Product string          `json:"product_name"`
		Size    int64           `json:"block_size"`
		Blocks  int64           `json:"num_blocks"`
		Types   map[string]bool `json:"supported_io_types"`
	}
	if err := s.target.rpc.Call(ctx, "bdev_get_bdevs", map[string]string{"name": s.name}, &found); err != nil {
		return e, err
	}
	if len(found) != 1 {
		return e, fmt.Errorf("SPDK has %d bdevs of the name %s", len(found), s.name)
	}
	b := found[0]
	e = Effective{Product: b.Product, Size: b.Blocks * b.Size, BlockSize: b.Size, Flush: b.Types["flush"], Unmap: b.Types["unmap"]}
	c, err := s.target.controller(ctx, s.name)
	if err != nil {
		return e, err
	}
	e.Cores = c.Cores
	pid := s.target.PID()
	if s.disk.Stack.Ceiling() || pid == 0 {
		return e, nil
	}
	files, err := proc.Effective(pid, s.disk.Path)
	if err != nil {
		return e, err
	}
	direct := true
	for _, f := range files {
		direct = direct && f.Direct // SPDK tries again without where the file system refuses
	}
	e.Direct = &direct
	return e, nil
}
