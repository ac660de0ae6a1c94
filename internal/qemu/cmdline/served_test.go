package cmdline_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/spec"
)

// served is a disk of the stack that a daemon serves.
func served(serial string, s spec.Stack) cmdline.Disk {
	return cmdline.Disk{Stack: s, Serial: serial, Path: "/vm/" + serial + ".img", Socket: "/vm/" + serial + ",socket"}
}

func servedStack(format, bus, protocol, cache string) spec.Stack {
	return spec.Stack{Format: format, Bus: bus, Protocol: protocol, Cache: cache, AIO: "threads"}
}

func TestServedGolden(t *testing.T) {
	many := servedStack("qcow2", "vhost-user-blk", "", "writethrough")
	many.IOThread, many.Queues, many.QueueSize = true, 2, 256
	scsi := servedStack("raw", "vhost-user-scsi", "", "none")
	scsi.Queues, scsi.QueueSize = 2, 256
	nbd := servedStack("qcow2", "virtio-blk", "nbd", "unsafe")
	nbd.IOThread, nbd.Discard, nbd.DetectZeroes = true, "unmap", "on"
	shared := servedStack("raw", "virtio-scsi", "nbd", "directsync")
	for name, stacks := range map[string][]spec.Stack{
		"vhost-user": {servedStack("raw", "vhost-user-blk", "", "none"), many, scsi},
		"nbd":        {nbd, shared, shared},
	} {
		c := good()
		c.Disks = nil
		for i, s := range stacks {
			c.Disks = append(c.Disks, served("disk"+string(rune('0'+i)), s))
		}
		args, err := cmdline.Args(c)
		if err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, "testdata/served/"+name+".args", strings.Join(args, "\n")+"\n")
	}
}

func TestServedFaults(t *testing.T) {
	tests := []struct {
		name   string
		change func(*cmdline.Disk)
		want   []string
	}{
		{"nothing", func(*cmdline.Disk) {}, nil},
		{"words", func(d *cmdline.Disk) { d.Stack.Protocol, d.Stack.Daemon = "iscsi", "tgtd" }, []string{`protocol "iscsi"`, `daemon "tgtd"`}},
		{"no socket", func(d *cmdline.Disk) { d.Socket = "" }, []string{"no socket"}},
		{"long socket", func(d *cmdline.Disk) { d.Socket = strings.Repeat("s", 108) }, []string{"108 bytes, at most 107 fit"}},
		{"two ways", func(d *cmdline.Disk) { d.Stack.Protocol = "nbd" }, []string{"vhost-user-blk does not go over NBD"}},
		{"a daemon for nothing", func(d *cmdline.Disk) {
			d.Stack.Bus, d.Stack.Daemon = "sata", "spdk"
		}, []string{"spdk needs protocol nbd or a vhost-user bus"}},
		{"nbd of spdk", func(d *cmdline.Disk) {
			d.Stack.Bus, d.Stack.Protocol, d.Stack.Daemon = "sata", "nbd", "spdk"
		}, []string{"SPDK serves no NBD socket"}},
		{"scsi of qemu-storage-daemon", func(d *cmdline.Disk) {
			d.Stack.Bus, d.Stack.Daemon = "vhost-user-scsi", "qemu-storage-daemon"
		}, []string{"only spdk does"}},
		{"scsi with an iothread", func(d *cmdline.Disk) {
			d.Stack.Bus, d.Stack.IOThread = "vhost-user-scsi", true
		}, []string{"bus vhost-user-scsi has no iothread"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := good()
			c.Disks = []cmdline.Disk{served("d0", servedStack("raw", "vhost-user-blk", "", "none"))}
			tt.change(&c.Disks[0])
			_, err := cmdline.Args(c)
			var faults errkind.List
			if errors.As(err, &faults); len(faults) != len(tt.want) {
				t.Fatalf("%d faults, want %d: %v", len(faults), len(tt.want), err)
			}
			for i, want := range tt.want {
				if !strings.Contains(faults[i].Error(), want) {
					t.Errorf("fault %d is %q, want %q in it", i, faults[i], want)
				}
			}
		})
	}
}

// TestSharedMemory: only a guest with a vhost-user disk gives its memory away.
func TestSharedMemory(t *testing.T) {
	for bus, want := range map[string]bool{"vhost-user-blk": true, "vhost-user-scsi": true, "virtio-blk": false, "nvme": false} {
		s := servedStack("raw", bus, "", "none")
		if cmdline.NeedsSharedMemory(s) != want {
			t.Errorf("NeedsSharedMemory(%s) = %v", bus, !want)
		}
		c := good()
		c.Disks = append(c.Disks, served("d1", s))
		args, err := cmdline.Args(c)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(args, " "), "share=on -machine memory-backend=mem"); got != want {
			t.Errorf("%s beside virtio-blk: shared memory %v, want %v", bus, got, want)
		}
	}
}

func TestBlockdevs(t *testing.T) {
	s := servedStack("qcow2", "vhost-user-blk", "", "none")
	s.AIO, s.DetectZeroes = "native", "on"
	d := cmdline.Disk{Stack: s, Serial: "d0", Path: "/dev/vg/a,b", Block: true, Offset: 1 << 20, Size: 1 << 30}
	got, err := cmdline.Blockdevs(d)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"driver=host_device,node-name=d0-file,cache.direct=on,cache.no-flush=off,filename=/dev/vg/a,,b,aio=native",
		"driver=raw,node-name=d0-slice,cache.direct=on,cache.no-flush=off,file=d0-file,offset=1048576,size=1073741824",
		"driver=qcow2,node-name=d0-top,cache.direct=on,cache.no-flush=off,file=d0-slice,detect-zeroes=on",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Blockdevs (-want +got):\n%s", diff)
	}
	d.Stack.Cache = "writeback"
	if _, err := cmdline.Blockdevs(d); err == nil {
		t.Error("native aio of a buffered file: no fault")
	}
}

// TestServedNeeds: QEMU itself needs no aio and no format of what it does not open.
func TestServedNeeds(t *testing.T) {
	for name, tt := range map[string]struct {
		stack spec.Stack
		want  cmdline.Need
	}{
		"vhost-user": {
			servedStack("qcow2", "vhost-user-blk", "", "none"),
			cmdline.Need{Devices: map[string][]string{"vhost-user-blk-pci": {"chardev", "config-wce"}}},
		},
		"nbd": {
			servedStack("qcow2", "virtio-blk", "nbd", "none"),
			cmdline.Need{Drivers: []string{"nbd", "raw"}, Devices: map[string][]string{"virtio-blk-pci": {"drive", "serial", "write-cache"}}},
		},
	} {
		got, err := cmdline.Needs(tt.stack)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: Needs (-want +got):\n%s", name, diff)
		}
	}
}
