package rig

import (
	"context"
	"fmt"

	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/provision/qcow2"
	"github.com/iotax/iotax/internal/spec"
)

// restore brings a stack whose writes change its volume (they allocate, or they copy what a snapshot holds) back into
// the state in which each window is to find it, when anything was written to it since.
func (s *session) restore(ctx context.Context, stack string, l spec.Workload) error {
	in, ok := s.intent(stack)
	if !ok {
		in, ok = s.onHost(stack)
	}
	if !ok || s.restored[stack] {
		return nil
	}
	if err := s.renew(ctx, in); err != nil {
		return fmt.Errorf("the volume could not be brought back into its state: %w", err)
	}
	s.restored[stack] = !l.Writes()
	return nil
}

func (s *session) intent(stack string) (intended, bool) {
	for _, in := range s.intended {
		if in.stack.Name == stack {
			return in, true
		}
	}
	return intended{}, false
}

func (s *session) renew(ctx context.Context, in intended) error {
	refresh, changes := s.Refresh[in.stack.Name]
	switch {
	case changes:
		return refresh(ctx)
	case in.stack.Empty:
		return s.agent().Discard(ctx, load.Discard{Path: "/dev/" + s.disks[in.stack.Name].Name, Size: in.size})
	case in.stack.Format == "qcow2" && in.stack.Snapshot == "fresh":
		return s.renewSnapshot(ctx, in)
	}
	return nil
}

// renewSnapshot takes the snapshot inside an open image anew, so that it shares every cluster again.
func (s *session) renewSnapshot(ctx context.Context, in intended) error {
	q, ok := s.machine.(*emulator)
	if !ok {
		return fmt.Errorf("the snapshot inside an image is QEMU's to renew")
	}
	of := map[string]any{"device": in.disk.Node(), "name": qcow2.SnapshotName}
	if err := q.QMP.Call(ctx, "blockdev-snapshot-delete-internal-sync", of, nil); err != nil {
		return err
	}
	return q.QMP.Call(ctx, "blockdev-snapshot-internal-sync", of, nil)
}
