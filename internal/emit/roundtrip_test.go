package emit

import (
	"testing"

	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/libvirt"
	"github.com/iotax/iotax/internal/vmconf/pve"
	"github.com/iotax/iotax/internal/vmconf/qemuargs"
	"github.com/iotax/iotax/internal/vmconf/xl"
)

// buses are the words of package vmconf for the buses of stacks.
var buses = map[string]string{
	"virtio-blk": vmconf.VirtioBlk, "virtio-scsi": vmconf.VirtioSCSI, "virtio-scsi-single": vmconf.VirtioSCSI,
	"sata": vmconf.SATA, "ide": vmconf.IDE, "nvme": vmconf.NVMe, "lsi53c895a": vmconf.LSI, "megasas": vmconf.MegaSAS,
	"pvscsi": vmconf.PVSCSI, "blkfront": vmconf.XenBlk,
}

func parse(as, text string) (vmconf.Document, error) {
	switch as {
	case Libvirt:
		return libvirt.Parse("emitted", []byte(text))
	case Proxmox:
		return pve.Parse("100.conf", []byte(text), pve.Storage{})
	case QEMU:
		return qemuargs.Parse("emitted", []byte(text))
	}
	return xl.Parse("emitted", []byte(text))
}

// TestRoundTrip: what is emitted, comments and all, is read back as the stack that it is of.
func TestRoundTrip(t *testing.T) {
	read := map[string]int{}
	check := func(as string, s spec.Stack, o Options) {
		c, err := Make(as, s, o)
		if err != nil || s.Served() != "" || s.Ceiling() { // which are nowhere, or in another process
			return
		}
		text, _ := c.Commented()
		doc, err := parse(as, text)
		if err != nil {
			t.Errorf("%s as %s: %v\n%s", s.Name, as, err, text)
			return
		}
		read[as]++
		vms := doc.VMs()
		if len(vms) != 1 || len(vms[0].Disks) != 1 || len(vms[0].Unknown) != 0 {
			t.Errorf("%s as %s: %d machines: %+v\n%s", s.Name, as, len(vms), vms, text)
			return
		}
		vm, d := vms[0], vms[0].Disks[0]
		for _, v := range readBack(as, s, vm, d, c.Disk) {
			if v.got != v.want {
				t.Errorf("%s as %s: %s is %q, want %q\n%s", s.Name, as, v.what, v.got, v.want, text)
			}
		}
	}
	for _, as := range Languages {
		for _, bus := range spec.Buses {
			for _, s := range matrix(bus) {
				check(as, s, usual())
			}
		}
		for _, v := range variants() {
			check(as, v.stack, v.opts)
		}
	}
	for as, least := range map[string]int{Libvirt: 100, Proxmox: 100, QEMU: 100, XL: 4} {
		if read[as] < least {
			t.Errorf("only %d configurations as %s were read", read[as], as)
		}
	}
}

type value struct{ what, got, want string }

func readBack(as string, s spec.Stack, vm vmconf.VM, d vmconf.Disk, path string) []value {
	values := []value{
		{"kind", vm.Kind, as},
		{"bus", d.Bus.Value, buses[s.Bus]},
		{"source", d.Source.Value, path},
		{"format", d.Format.Value, s.Format},
	}
	if as == XL {
		return append(values, value{"backend", d.XenBackend.Value, s.Backend})
	}
	thread := d.IOThread.Value
	if thread != "off" && thread != "mapping" {
		thread = "on"
	}
	want := map[bool]string{true: "on", false: "off"}[s.IOThread]
	if s.VQMapping != 0 {
		want = "mapping"
	}
	return append(values,
		value{"cache", d.Cache.Value, s.Cache}, value{"aio", d.AIO.Value, s.AIO}, value{"iothread", thread, want},
		value{"discard", d.Discard.Value, s.Discard}, value{"detect_zeroes", d.DetectZeroes.Value, s.DetectZeroes})
}
