package analyse

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/spec"
)

// TestEverySettingHasALayer: a setting that no layer holds would make two stacks look the same that are not.
func TestEverySettingHasALayer(t *testing.T) {
	fields := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[spec.Stack]()) {
		field, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields[field] = true
		layer, known := layerOfField[field]
		if !known {
			t.Errorf("%s is in no layer", field)
		}
		if layer != noLayer && !slices.Contains(LayerNames, layer) {
			t.Errorf("%s is in %q, which is no layer", field, layer)
		}
	}
	for field := range layerOfField {
		if !fields[field] {
			t.Errorf("a stack has no %s", field)
		}
	}
}

// TestEverySettingIsSeen: each setting that is changed changes the words of its layer, but for a discard that no load makes.
func TestEverySettingIsSeen(t *testing.T) {
	exp := spec.Experiment{Guest: spec.Guest{CPUs: 2}}
	plain := spec.Stack{Storage: "lvm", Format: "qcow2", Bus: "virtio-blk", Cache: "none", AIO: "native"}
	typ := reflect.TypeFor[spec.Stack]()
	for i, f := range reflect.VisibleFields(typ) {
		field, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		s := plain
		switch v := reflect.ValueOf(&s).Elem().Field(i); v.Kind() {
		case reflect.String:
			v.SetString("other")
		case reflect.Bool:
			v.SetBool(true)
		default:
			v.SetInt(8192)
		}
		if field == "bus" || field == "discard" || layerOfField[field] == noLayer {
			continue
		}
		layer := layerOf(field, s)
		if before, after := statesOf(exp, plain, true)[layer], statesOf(exp, s, true)[layer]; before == after && field != "hypervisor" {
			t.Errorf("%s: %s stays %q", field, layer, after)
		}
	}
}

func TestStates(t *testing.T) {
	for name, tt := range map[string]struct {
		host  string // its storage
		stack spec.Stack
		want  states
	}{
		"a guest on the host's own file": {
			stack: spec.Stack{Bus: "virtio-blk", Cache: "none", AIO: "native"},
			want:  states{BlockLayer: "cache=none aio=native", Transport: "virtio-blk", GuestLayer: ordinary},
		},
		"defaults are spelled out": {
			stack: spec.Stack{Format: "qcow2", Bus: "sata", Discard: "unmap", CPUs: 2},
			want:  states{ImageLayer: "qcow2", BlockLayer: "cache=writeback aio=threads", Transport: "sata", GuestLayer: ordinary},
		},
		"what is not at its default": {
			stack: spec.Stack{
				Storage: "lvm-thin", ChunkSize: 65536, Format: "raw", Bus: "virtio-blk", IOThread: true, Queues: 4, DetectZeroes: "on", CPUs: 4,
				Scheduler: "none",
			},
			want: states{
				FileSystem: "lvm-thin chunk_size=64KiB", BlockLayer: "cache=writeback aio=threads detect_zeroes=on",
				Transport: "virtio-blk iothread queues=4", GuestLayer: "scheduler=none cpus=4",
			},
		},
		"the host's own storage is no layer": {
			host: "lvm", stack: spec.Stack{Storage: "lvm", Bus: "virtio-blk"},
			want: states{BlockLayer: "cache=writeback aio=threads", Transport: "virtio-blk", GuestLayer: ordinary},
		},
		"a file is a layer to a host on LVM": {
			host: "lvm", stack: spec.Stack{Bus: "host"}, want: states{FileSystem: "file"},
		},
		"straight on the host": {stack: spec.Stack{Storage: "zvol", Bus: "host"}, want: states{FileSystem: "zvol"}},
		"the host again":       {stack: spec.Stack{Bus: "host"}, want: states{}},
		"a preallocated file":  {stack: spec.Stack{Bus: "host", Preallocation: "falloc"}, want: states{FileSystem: "file preallocation=falloc"}},
		"a snapshot in an image": {
			stack: spec.Stack{Format: "qcow2", Snapshot: "fresh", Bus: "host", Daemon: "qemu-img"},
			want:  states{ImageLayer: "qcow2 snapshot=fresh", BlockLayer: "cache=writeback aio=threads"},
		},
		"the block layer alone": {
			stack: spec.Stack{Format: "qcow2", Bus: "host", Daemon: "qemu-img", Cache: "none", AIO: "native"},
			want:  states{ImageLayer: "qcow2", BlockLayer: "cache=none aio=native"},
		},
		"over NBD on the host": {
			stack: spec.Stack{Bus: "host", Protocol: "nbd", Cache: "none", AIO: "native"},
			want:  states{BlockLayer: "nbd qemu-storage-daemon cache=none aio=native"},
		},
		"over NBD in a guest": {
			stack: spec.Stack{Bus: "virtio-blk", Protocol: "nbd", Cache: "none", AIO: "native"},
			want:  states{BlockLayer: "nbd qemu-storage-daemon cache=none aio=native", Transport: "virtio-blk", GuestLayer: ordinary},
		},
		"over vhost-user": {
			stack: spec.Stack{Bus: "vhost-user-blk", Cache: "none", AIO: "native"},
			want:  states{BlockLayer: "cache=none aio=native", Transport: "qemu-storage-daemon vhost-user-blk", GuestLayer: ordinary},
		},
		"SPDK has no block layer of QEMU's": {
			stack: spec.Stack{Bus: "vhost-user-scsi"}, want: states{Transport: "spdk vhost-user-scsi", GuestLayer: ordinary},
		},
		"Xen has none either": {
			stack: spec.Stack{Bus: "blkfront", Hypervisor: "xen-pvh"}, want: states{Transport: "blkfront", GuestLayer: "xen-pvh"},
		},
		"null-co": {
			stack: spec.Stack{Format: "null-co", Bus: "sata"},
			want:  states{ImageLayer: "no disk", BlockLayer: "cache=writeback aio=threads", Transport: "sata", GuestLayer: ordinary},
		},
		"null_blk": {stack: spec.Stack{Bus: "null_blk"}, want: states{ImageLayer: "no disk", Transport: "null_blk", GuestLayer: ordinary}},
	} {
		exp := spec.Experiment{HostStorage: tt.host, Guest: spec.Guest{CPUs: 2}}
		if d := cmp.Diff(tt.want, statesOf(exp, tt.stack, true)); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
	}
}

// TestZeroesAreLookedForInWrites: under a load that only reads it is the same whether QEMU would look for zeroes.
func TestZeroesAreLookedForInWrites(t *testing.T) {
	s := spec.Stack{Bus: "virtio-blk", Cache: "none", AIO: "native", DetectZeroes: "on"}
	for writes, want := range map[bool]string{true: "cache=none aio=native detect_zeroes=on", false: "cache=none aio=native"} {
		if got := statesOf(spec.Experiment{}, s, writes)[BlockLayer]; got != want {
			t.Errorf("with writes %v: %q, want %q", writes, got, want)
		}
	}
}
