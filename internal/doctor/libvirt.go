package doctor

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// libvirtUsers are the users under whom libvirt runs QEMU: Debian's and Ubuntu's, then Fedora's and SUSE's.
var libvirtUsers = []string{"libvirt-qemu", "qemu"}

// libvirt warns of a /dev/kvm that exists and is closed to libvirt's QEMU: libvirt then does not keep what it has
// learned of QEMU and asks anew at each use, so that defining a machine takes 80 to 140 s instead of 16 ms. iotax does
// not use libvirt.
func (x *exam) libvirt() {
	info, err := fs.Stat(x.Root, "dev/kvm")
	if err != nil {
		return
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	for _, name := range libvirtUsers {
		uid, groups, exists := x.user(name)
		if !exists || mayOpen(info.Mode(), owner, uid, groups) {
			continue
		}
		x.warn(Host, "libvirt", "/dev/kvm exists and the user "+name+" may not open it: libvirt asks QEMU anew at each use, and defining a machine takes minutes",
			"chgrp kvm /dev/kvm; chmod 660 /dev/kvm; usermod -aG kvm "+name)
	}
}

// mayOpen tells whether a user may read and write a file, by its mode alone.
func mayOpen(mode fs.FileMode, owner *syscall.Stat_t, uid uint32, groups []uint32) bool {
	const rw = 0o6
	switch bits := mode.Perm(); {
	case uid == 0:
		return true
	case uid == owner.Uid:
		return bits>>6&rw == rw
	case slices.Contains(groups, owner.Gid):
		return bits>>3&rw == rw
	default:
		return bits&rw == rw
	}
}

// user finds a local user with all its groups.
func (x *exam) user(name string) (uid uint32, groups []uint32, exists bool) {
	for line := range strings.Lines(x.read("etc/passwd")) {
		if f := strings.Split(line, ":"); f[0] == name && len(f) > 3 {
			uid, groups, exists = id(f[2]), []uint32{id(f[3])}, true
		}
	}
	for line := range strings.Lines(x.read("etc/group")) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) > 3 && slices.Contains(strings.Split(f[3], ","), name) {
			groups = append(groups, id(f[2]))
		}
	}
	return uid, groups, exists
}

// id reads a number of a user or group; one that cannot be read is nobody's.
func id(s string) uint32 {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return 1<<32 - 1
	}
	return uint32(n)
}
