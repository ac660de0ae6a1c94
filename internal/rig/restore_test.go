package rig

import (
	"encoding/json"
	"testing"

	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
)

// Volumes that writes change are brought back before each window: one that allocates is empty again, and one under a
// snapshot has to copy again.
func TestRestore(t *testing.T) {
	r := realRig(t, []spec.Stack{
		{Name: "growing", Format: "qcow2", Bus: "virtio-blk", Cache: "none", AIO: "threads", Discard: "unmap", Empty: true},
		{Name: "sparse", Format: "raw", Preallocation: "off", Bus: "virtio-scsi", Cache: "none", AIO: "threads", Discard: "unmap", Empty: true},
		{Name: "snapshot", Format: "qcow2", Bus: "virtio-blk", Cache: "none", AIO: "threads", Snapshot: "fresh"},
	})
	booted, err := r.Boot(t.Context(), r.Plan.Boots[0], "")
	if err != nil {
		t.Fatal(err)
	}
	s := booted.(*session)
	defer s.Close()
	write := spec.Workload{Name: "fill", RW: "write", BS: 1 << 20, IODepth: 4}
	window := func(stack string) {
		w, err := s.Window(t.Context(), plan.Window{Stack: stack, Workload: write.Name, Seed: 7, Runtime: r.Plan.Experiment.Runtime}, write)
		if err != nil || w.Status != record.OK {
			t.Fatalf("%s: %+v, %v", stack, w, err)
		}
	}
	for i := range 2 {
		for _, stack := range []string{"growing", "sparse"} {
			if err := s.restore(t.Context(), stack, write); err != nil {
				t.Fatalf("%s: %v", stack, err)
			}
			before := taken(t, r.Volumes[stack])
			window(stack)
			if grown := taken(t, r.Volumes[stack]) - before; grown < 1<<20 {
				t.Errorf("%s: window %d made it grow by %d bytes", stack, i+1, grown)
			}
		}
		before := firstPlace(t, r.Volumes["snapshot"])
		window("snapshot")
		if after := firstPlace(t, r.Volumes["snapshot"]); after == before {
			t.Errorf("snapshot: window %d did not copy the first cluster, which stays at %d", i+1, after)
		}
	}
}

// firstPlace is where an image that is in use has its first cluster.
func firstPlace(t *testing.T, v provision.Volume) int64 {
	t.Helper()
	out, err := sys.Exec{}.Run(t.Context(), sys.Command{Argv: []string{"qemu-img", "map", "-U", "-f", "qcow2", "--output=json", v.Path}})
	if err != nil {
		t.Fatal(err)
	}
	var entries []struct {
		Offset int64 `json:"offset"`
	}
	if err := json.Unmarshal(out, &entries); err != nil || len(entries) == 0 {
		t.Fatalf("%v: %s", err, out)
	}
	return entries[0].Offset
}

// taken is what a volume takes on the disk once all of it is there.
func taken(t *testing.T, v provision.Volume) int64 {
	t.Helper()
	if err := provision.DropCache(v); err != nil {
		t.Fatal(err)
	}
	n, err := provision.Taken(v.Path)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
