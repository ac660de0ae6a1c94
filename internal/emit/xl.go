package emit

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/xen/xlcfg"
)

// xl writes a domain as xl reads it, or its disk alone.
func (e *emitter) xl() {
	s := e.s
	if !e.only([]reason{{!s.Xen(), "it was measured in a machine of QEMU, and a domain of Xen is another; --as qemu, libvirt or proxmox say it"}}) {
		return
	}
	name := "xvda"
	if s.Bus == "ide" {
		name = "hda"
	}
	disk, err := xlcfg.Disk{VDev: name, Path: e.Disk, Format: s.Format, Backend: s.Backend}.Spec()
	e.fault(err)
	kind := strings.TrimPrefix(s.Hypervisor, "xen-")
	if kind == "hvm" && s.Bus == "blkfront" {
		e.note("the firmware of an HVM domain does not see xvda: it is for a second disk, or for a guest whose kernel is loaded from the host")
	}
	var b strings.Builder
	if !e.o.DiskOnly {
		fmt.Fprintf(&b, "name = %q\ntype = %q\nvcpus = %s\nmemory = %s\n", e.o.Name, kind,
			strconv.Itoa(e.o.Guest.CPUs), strconv.FormatInt(e.o.Guest.Memory>>20, 10))
		if kind != "hvm" {
			b.WriteString("bootloader = \"pygrub\"\n")
			e.note("bootloader = \"pygrub\" starts the kernel of the guest's own disk; it was measured with a kernel from the host (kernel, ramdisk)")
		}
	}
	fmt.Fprintf(&b, "disk = [ %s ]\n", disk)
	e.Text = b.String()
}
