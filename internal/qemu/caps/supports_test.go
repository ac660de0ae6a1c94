package caps

import (
	"slices"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/qemu/qmp"
	"github.com/iotax/iotax/internal/spec"
)

// whole is a QEMU that offers what the stack of the tests below needs.
func whole() Caps {
	return Caps{
		Version:  qmp.Version{Major: 9, Minor: 1},
		Machines: []string{"pc", "q35"},
		Devices:  []string{"ide-hd", "virtio-blk-pci"},
		Properties: map[string][]string{
			"virtio-blk-pci": {"drive", "iothread", "num-queues", "serial", "write-cache"},
			"ide-hd":         {"drive", "serial", "unit", "write-cache"},
		},
		Drivers: []string{"file", "host_device", "null-co", "qcow2", "raw"},
		AIO:     []string{"io_uring", "native", "threads"},
	}
}

func TestSupports(t *testing.T) {
	blk := spec.Stack{Format: "qcow2", Bus: "virtio-blk", Cache: "none", AIO: "native", IOThread: true}
	ide := spec.Stack{Format: "raw", Bus: "ide", Cache: "none", AIO: "threads"}
	without := func(list []string, name string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == name })
	}
	tests := []struct {
		name         string
		stack        spec.Stack
		lose         func(*Caps)
		reason, mend string
	}{
		{"all there", blk, func(*Caps) {}, "", ""},
		{"ide", ide, func(*Caps) {}, "", ""},
		{"null-co needs no aio", spec.Stack{Format: "null-co", Bus: "virtio-blk", Cache: "none"}, func(c *Caps) { c.AIO = nil }, "", ""},
		{"machine", ide, func(c *Caps) { c.Machines = without(c.Machines, "pc") }, "QEMU 9.1.0 has no machine pc", "full build"},
		{"device", blk, func(c *Caps) { c.Devices = nil }, "has no device virtio-blk-pci", "full build"},
		{"property", blk, func(c *Caps) {
			c.Properties["virtio-blk-pci"] = without(c.Properties["virtio-blk-pci"], "iothread")
		}, "has no iothread on virtio-blk-pci", "newer QEMU"},
		{
			"mapping of virtio-blk",
			spec.Stack{Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "native", VQMapping: 2},
			func(*Caps) {},
			"QEMU 9.1.0 has no iothread-vq-mapping on virtio-blk-pci", "install QEMU 9.0 or newer",
		},
		{
			"mapping of virtio-scsi",
			spec.Stack{Format: "raw", Bus: "virtio-scsi", Cache: "none", AIO: "native", VQMapping: 2},
			func(c *Caps) {
				c.Devices = append(c.Devices, "virtio-scsi-pci", "scsi-hd")
				c.Properties["scsi-hd"] = []string{"drive", "serial", "write-cache"}
			},
			"has no iothread-vq-mapping on virtio-scsi-pci", "install QEMU 10.0 or newer",
		},
		{"driver", blk, func(c *Caps) { c.Drivers = without(c.Drivers, "qcow2") }, "has no block driver qcow2", "full build"},
		{"aio", blk, func(c *Caps) { c.AIO = without(c.AIO, "native") }, "was built without aio=native", "full build"},
		{
			"aio refused", blk, func(c *Caps) { c.Refused = map[string]string{"native": "Resource temporarily unavailable"} },
			"refuses aio=native here: Resource temporarily unavailable", "fs.aio-max-nr",
		},
		{
			"impossible",
			spec.Stack{Format: "raw", Bus: "ide", Cache: "none", AIO: "threads", IOThread: true},
			func(*Caps) {},
			"bus ide has no iothread", "change the stack",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := whole()
			tt.lose(&c)
			reason, mend := c.Supports(tt.stack)
			if !strings.Contains(reason, tt.reason) || !strings.Contains(mend, tt.mend) || (reason == "") != (tt.reason == "") {
				t.Errorf("Supports = %q, %q; want %q, %q", reason, mend, tt.reason, tt.mend)
			}
		})
	}
}

func TestSupportsIn(t *testing.T) {
	blk := spec.Stack{Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "native"}
	mapped := blk
	mapped.VQMapping = 2
	fewer := mapped
	fewer.Queues = 1
	served := spec.Stack{Format: "raw", Bus: "vhost-user-blk", Cache: "none", AIO: "native"}
	for name, tt := range map[string]struct {
		stack        spec.Stack
		guest        spec.Guest
		reason, mend string
	}{
		"usual":                    {blk, spec.Guest{CPUs: 2}, "", ""},
		"huge pages":               {blk, spec.Guest{CPUs: 2, Hugepages: 2 << 20, MemoryBackend: "file"}, "", ""},
		"huge pages of ram":        {blk, spec.Guest{CPUs: 2, Hugepages: 2 << 20, MemoryBackend: "ram"}, "memory backend ram has no huge pages", "memory_backend"},
		"ram shared with a server": {served, spec.Guest{CPUs: 2, MemoryBackend: "ram"}, "cannot be shared with the server", "memory_backend"},
		"memfd shared":             {served, spec.Guest{CPUs: 2, MemoryBackend: "memfd"}, "", ""},
		"an iothread for each":     {mapped, spec.Guest{CPUs: 2}, "", ""},
		"more than vCPUs":          {mapped, spec.Guest{CPUs: 1}, "the disk's 1 queues", "more cpus"},
		"more than queues":         {fewer, spec.Guest{CPUs: 2}, "the disk's 1 queues", "more queues"},
		"what it cannot anyhow":    {spec.Stack{Format: "raw", Bus: "nvme", Cache: "none", AIO: "native"}, spec.Guest{CPUs: 2}, "has no device nvme", "full build"},
		"a disk of Xen":            {spec.Stack{Format: "raw", Bus: "blkfront", Hypervisor: "xen-pv"}, spec.Guest{CPUs: 2}, "is a disk of Xen", "change the stack"},
	} {
		c := whole()
		c.Devices = append(c.Devices, "vhost-user-blk-pci")
		c.Properties["vhost-user-blk-pci"] = []string{"chardev", "config-wce"}
		c.Properties["virtio-blk-pci"] = append(c.Properties["virtio-blk-pci"], "iothread-vq-mapping")
		reason, mend := c.SupportsIn(tt.stack, tt.guest)
		if !strings.Contains(reason, tt.reason) || !strings.Contains(mend, tt.mend) || (reason == "") != (tt.reason == "") {
			t.Errorf("%s: %q, %q; want %q, %q", name, reason, mend, tt.reason, tt.mend)
		}
	}
}

func TestKnownBugs(t *testing.T) {
	for _, tt := range []struct {
		version qmp.Version
		accel   string
		want    int
	}{
		{qmp.Version{Major: 8, Minor: 0, Micro: 5}, "tcg", 1},
		{qmp.Version{Major: 8, Minor: 0, Micro: 5}, "kvm", 0},
		{qmp.Version{Major: 8, Minor: 1}, "tcg", 0},
	} {
		if got := (Caps{Version: tt.version}).KnownBugs(tt.accel); len(got) != tt.want {
			t.Errorf("KnownBugs(%s, %s) = %v, want %d", tt.version, tt.accel, got, tt.want)
		}
	}
}
