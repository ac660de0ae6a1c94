package libvirt_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/libvirt"
)

// BenchmarkChange changes one machine of a stream: what that costs is to depend on the machine, not on how many others there
// are.
func BenchmarkChange(b *testing.B) {
	const domain = `<domain type='kvm'>
  <name>vm%d</name>
  <memory unit='GiB'>4</memory>
  <vcpu>4</vcpu>
  <os>
    <type arch='x86_64' machine='pc-q35-9.0'>hvm</type>
  </os>
  <devices>
    <disk type='file' device='disk'>
      <driver name='qemu' type='qcow2'/>
      <source file='/images/%d.qcow2'/>
      <target dev='sda' bus='sata'/>
    </disk>
  </devices>
</domain>
`
	changes := []vmconf.Change{set("sda", vmconf.SetBus, vmconf.VirtioBlk), set("sda", vmconf.SetIOThread, "on"), set("sda", vmconf.SetCache, "none")}
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var text bytes.Buffer
			for i := range n {
				fmt.Fprintf(&text, domain, i, i)
			}
			doc, err := libvirt.Parse("x", text.Bytes())
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := doc.Change(n/2, changes); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
