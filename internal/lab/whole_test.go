package lab

import (
	"strings"
	"testing"
)

// The lab is a host on which what the drivers need works, with the real udev: nodes and links come when they come.
func TestLabIsAHost(t *testing.T) {
	m := boot(t, t.TempDir(), Config{Disks: []int64{2 << 30, 1 << 30}})
	for _, c := range []struct{ name, script, want string }{
		{"two processors", "nproc", "2"},
		{"scratch disks", "lsblk -bdno SIZE /dev/vdb /dev/vdc", "2147483648\n1073741824"},
		{"links of udev", "readlink -f /dev/disk/by-id/virtio-scratch0", "/dev/vdb"},
		{"KVM", "test -c /dev/kvm && echo there", "there"},
		{"direct I/O", "dd if=/dev/zero of=/var/tmp/x bs=4k count=1 oflag=direct status=none && echo works", "works"},
		{"thin pool", `pvcreate -q /dev/vdb >/dev/null
			vgcreate -q labvg /dev/vdb >/dev/null
			lvcreate -q -y -L 256M -T labvg/pool >/dev/null
			lvcreate -q -y -V 192M -T labvg/pool -n thin >/dev/null
			dmsetup table labvg-thin | cut -d' ' -f3
			vgremove -q -f labvg >/dev/null; pvremove -q /dev/vdb >/dev/null`, "thin"},
		{"zvol", `zpool create labpool /dev/vdc
			zfs create -V 128M -o volblocksize=8k labpool/volume
			while ! test -e /dev/zvol/labpool/volume; do sleep 0.1; done
			blockdev --getsize64 /dev/zvol/labpool/volume
			zpool destroy labpool`, "134217728"},
		{"loop", `truncate -s 1M /var/tmp/l; d=$(losetup -f --show /var/tmp/l); losetup -d "$d"; echo "$d"`, "/dev/loop0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.TrimSpace(sh(t, m, c.script)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Under Xen commands run in dom0, beside which xl starts a guest with a disk.
func TestLabIsAXenHost(t *testing.T) {
	m := boot(t, t.TempDir(), Config{Xen: true, Disks: []int64{64 << 20}})
	if !m.Hello.Xen {
		t.Fatal("the machine does not run under Xen")
	}
	if got := sh(t, m, "xl list | awk 'NR > 1 { print $1 }'"); got != "Domain-0\n" {
		t.Errorf("domains %q", got)
	}
	sh(t, m, `cat >/root/guest.cfg <<-EOF
		name = "guest"
		type = "pv"
		kernel = "$(echo /boot/vmlinuz-*)"
		memory = 128
		disk = ["format=raw,vdev=xvda,access=rw,target=/dev/vdb"]
	EOF
	xl create -q -p /root/guest.cfg`)
	if got := sh(t, m, "xl block-list guest | awk 'NR > 1 { print $1, $4 }'; xl destroy guest"); got != "51712 1\n" {
		t.Errorf("the guest's disks: %q", got)
	}
}

// What a command writes to the machine's own disk is gone with the machine, and two machines know nothing of
// each other.
func TestLabsDoNotMeet(t *testing.T) {
	one, two := boot(t, t.TempDir(), Config{}), boot(t, t.TempDir(), Config{})
	sh(t, one, "touch /root/mine; sync")
	sh(t, two, "test ! -e /root/mine")
}
