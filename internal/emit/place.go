package emit

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/iotax/iotax/internal/unit"
)

// volumeForm is a volume of a storage of Proxmox VE: "local-lvm:vm-100-disk-0".
var volumeForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]*:[^:]+$`)

// ownerForm finds the machine that a volume of Proxmox VE is for.
var ownerForm = regexp.MustCompile(`\bvm-([0-9]+)-`)

// place decides where the disk is, and refuses what would be another kind of place than the one that was measured.
func (e *emitter) place() {
	s := e.s
	if !e.only([]reason{
		{s.OnHost(), "its load runs on the host, without a guest that could be configured"},
		{s.InsideGuest(), "null_blk is a disk of the guest's own kernel (modprobe null_blk), which no configuration gives it"},
	}) {
		return
	}
	if s.Ceiling() {
		return // it is nowhere
	}
	e.Disk = e.o.Path
	if e.Disk == "" {
		e.Disk = e.example()
		e.note(e.Disk + " is an example: --disk names another place")
	}
	e.checkPath(e.Disk)
}

func (e *emitter) checkPath(p string) {
	volume := e.As == Proxmox && volumeForm.MatchString(p)
	block := strings.HasPrefix(p, "/dev/")
	if all := p + e.s.Pool; strings.ContainsFunc(all, func(r rune) bool { return r < ' ' || r == 0x7f }) || !utf8.ValidString(all) {
		e.refuse("disk %q: a control character, or no UTF-8, cannot be written into a configuration", p)
		return
	}
	e.only([]reason{
		{!volume && !strings.HasPrefix(p, "/"), "disk " + p + ": expected an absolute path" + map[bool]string{true: ", or a volume such as local-lvm:vm-100-disk-0"}[e.As == Proxmox]},
		{!volume && block && e.s.File(), "disk " + p + " is a block device, and the stack was measured in a file"},
		{!volume && !block && strings.HasPrefix(p, "/") && !e.s.File(), "disk " + p + " is a file, and the stack was measured on a block device"},
		{volume && e.s.File() && slices.Contains(formats, suffix(p)) && suffix(p) != e.s.Format, "disk " + p + ": Proxmox VE takes the format from the name, and the stack is " + e.s.Format},
		{e.As == Proxmox && strings.ContainsAny(p, ", \t"), "disk " + p + ": Proxmox VE's settings are parted by commas and blanks, and cannot hold them"},
	})
}

var formats = []string{"raw", "qcow2"}

func suffix(p string) string { return strings.TrimPrefix(path.Ext(p), ".") }

// example is a usual place for the volume, in the pool that the stack names.
func (e *emitter) example() string {
	s := e.s
	if e.As == Proxmox {
		return e.exampleVolume()
	}
	switch s.Storage {
	case "lvm", "lvm-thin":
		return "/dev/" + e.group() + "/" + e.o.Name
	case "zvol":
		return "/dev/zvol/" + e.pool() + "/" + e.o.Name
	case "zfs-file":
		return "/" + e.pool() + "/" + e.o.Name + "/disk." + s.Format
	case "device":
		return "/dev/disk/by-id/" + e.o.Name
	}
	folder := "/var/lib/libvirt/images/"
	if e.As == XL {
		folder = "/var/lib/xen/images/"
	}
	return folder + e.o.Name + "." + s.Format
}

func (e *emitter) exampleVolume() string {
	name := "vm-" + e.vmid + "-disk-0"
	switch e.s.Storage {
	case "lvm":
		return "lvm:" + name
	case "lvm-thin":
		return "local-lvm:" + name
	case "zvol":
		return "local-zfs:" + name
	case "device":
		return "/dev/disk/by-id/" + e.o.Name
	}
	return "local:" + e.vmid + "/" + name + "." + e.s.Format
}

// group is the volume group of LVM, and pool the thin pool or ZFS's pool or dataset.
func (e *emitter) group() string {
	if group, _, _ := strings.Cut(e.s.Pool, "/"); group != "" {
		return group
	}
	return "vg0"
}

func (e *emitter) pool() string {
	switch {
	case e.s.Pool != "":
		return e.s.Pool
	case e.s.Storage == "lvm-thin":
		return "vg0/pool"
	}
	return "tank"
}

// block reports whether the disk is a block device of the host.
func (e *emitter) block() bool { return !e.s.File() && !e.s.Ceiling() }

// baseEnd is what the name of the image behind an overlay has more than the overlay's.
const baseEnd = ".base"

// base is the image behind an overlay, "" for none.
func (e *emitter) base() string {
	if !e.s.BackingFile {
		return ""
	}
	return e.Disk + baseEnd
}

// socket is where a daemon serves the disk.
func (e *emitter) socket() string { return "/run/" + e.o.Name + ".sock" }

// readAheadKiB is a read-ahead in the kernel's unit, "" for the default.
func readAheadKiB(s string) string {
	switch s {
	case "":
		return ""
	case "none":
		return "0"
	}
	n, err := unit.ParseBytes(s)
	if err != nil {
		return "" // no experiment that is valid has it
	}
	return strconv.FormatInt(n>>10, 10)
}
