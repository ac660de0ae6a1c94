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
