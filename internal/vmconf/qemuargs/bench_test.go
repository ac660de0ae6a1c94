package qemuargs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/vmconf"
)

// BenchmarkChange changes one disk: what that costs is to depend on the machine that has it, not on how many others there
// are, and little on how many disks the machine has.
func BenchmarkChange(b *testing.B) {
	for _, n := range []struct{ machines, disks int }{{1, 1}, {1, 300}, {1000, 3}} {
		b.Run(fmt.Sprintf("%dx%d", n.machines, n.disks), func(b *testing.B) {
			var text strings.Builder
			for range n.machines {
				text.WriteString("qemu-system-x86_64 -machine pc-q35-9.0,accel=kvm -smp 4 -m 4G")
				for i := range n.disks {
					fmt.Fprintf(&text, " -drive file=/images/%d.qcow2,format=qcow2,if=none,id=d%d -device virtio-blk-pci,drive=d%d,id=v%d", i, i, i, i)
				}
				text.WriteString("\n")
			}
			doc := parse(b, "f", []byte(text.String()))
			disk := fmt.Sprintf("v%d", n.disks/2)
			changes := []vmconf.Change{{Disk: disk, Setting: vmconf.SetIOThread, Value: "on"}, {Disk: disk, Setting: vmconf.SetCache, Value: "none"}}
			for b.Loop() {
				if _, err := doc.Change(n.machines/2, changes); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
