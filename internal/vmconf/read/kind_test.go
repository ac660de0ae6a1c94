package read

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/vmconf"
)

func TestKind(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{"domain", "<?xml version='1.0'?>\n<!-- by hand --><domain type='kvm'>\n<name>a</name></domain>", vmconf.Libvirt},
		{"domain after words", "Starting install...\n\n  <domain type='qemu'>\n</domain>", vmconf.Libvirt},
		{"status", "\xef\xbb\xbf<domstatus state='running'><domain/></domstatus>", vmconf.Libvirt},
		{"arguments of QEMU in XML", "<domain xmlns:qemu='x'>\n<qemu:arg value='-drive file=a'/>\n</domain>", vmconf.Libvirt},
		{"snapshot", "<domainsnapshot>\n</domainsnapshot>", vmconf.Libvirt},
		{"other XML", "<network><domain-name>a</domain-name></network>", ""},
		{"HTML", "<html><body>disk = [a], memory: 3</body></html>", ""},

		{"one line of Proxmox", "# comment\nmachine: q35,viommu=intel\n", vmconf.Proxmox},
		{"Proxmox", "name: a\r\nmemory: 512\r\nscsi0: local:1/a.qcow2\r\n[PENDING]\r\ndelete: net0\r\n", vmconf.Proxmox},
		{"Proxmox with arguments", "args: -drive file=/a,if=none,id=d\nostype: l26\nide2: none,media=cdrom\n", vmconf.Proxmox},
		{"Proxmox with a broken line", "ostype: win11\nnothing here\nvirtio0: a:b\n", vmconf.Proxmox},
		{"a container", "arch: amd64\nostype: debian\nrootfs: local:1/a.raw\nmemory: 1\nnet0: name=eth0\n", ""},
		{"YAML", "name: web\nversion: 3\nservices:\n  web:\n    image: a\nmemory: 512\n", ""},
		{"mail", "From: a\nmachine: b\nTo: c\n", ""},

		{"xl", "name = 'a'\ndisk = [ 'phy:/a,xvda,w' ]\n", vmconf.XL},
		{"xl without disks", "type=\"pvh\"\nkernel=\"/a\"\n", vmconf.XL},
		{"xl that boots", "kernel = '/a'\nmemory = 64\n", vmconf.XL},
		{"xl with QEMU", "disk=[]\ndevice_model_override = '/usr/bin/qemu-system-i386'\ndevice_model_args=['-drive', 'file=a']\n", vmconf.XL},
		{"INI", "[client]\nname = a\nmemory = 3\ntype = 'b'\n", ""},
		{"shell", "#!/bin/sh\nname=a\nmemory=512\nkernel=\"$1\"\ndisk=/a\necho $disk\n", ""},

		{"command", "/usr/bin/qemu-system-x86_64 -m 512 -hda a.img\n", vmconf.QEMU},
		{"argument vector", "/usr/bin/kvm\x00-id\x00100\x00-m\x00512\x00", vmconf.QEMU},
		{"script", "#!/bin/bash\nmemory=512\nkernel=\"/boot/a\"\nexec qemu-kvm \\\n  -m $memory -drive file=a,if=virtio\n", vmconf.QEMU},
		{"options alone", "\t-drive file=$A,format=raw,if=none\n\t-device virtio-blk-pci,drive=a\n", vmconf.QEMU},
		{"daemon", "qemu-storage-daemon --blockdev driver=file,node-name=a,filename=b --export vhost-user-blk,id=c\n", vmconf.QEMU},
		{"words about QEMU", "qemu-system-x86_64 is a program. kvm - a module.\n", ""},
		{"other options", "mount -o loop --device /dev/sda -m 512\n", ""},

		{"JSON", `{"args": "qemu-system-x86_64 -m 512 -drive file=a"}`, ""},
		{"storages", "dir: local\n\tpath /var/lib/vz\n", ""},
		{"nothing", "", ""},
		{"zeros", strings.Repeat("\x00", 100), ""},
	} {
		if kind, ok := Kind([]byte(tt.data)); kind != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: %q, %v; want %q", tt.name, kind, ok, tt.want)
		}
	}
}

func TestIsStorage(t *testing.T) {
	for data, want := range map[string]bool{
		"dir: local\n\tpath /var/lib/vz\n":                        true,
		"# a\nlvmthin: local-lvm\n\t# b\n        thinpool data\n": true,
		"rbd: ceph\r\n\tmonhost 1\r\n":                            true,
		"dir: local\npath: /var\n":                                false,
		"An example:\n\ndir: local\n\tpath /a\n":                  false,
		"nodes: a\n  - b\n":                                       false,
		"":                                                        false,
	} {
		if got := isStorage([]byte(data)); got != want {
			t.Errorf("%q: %v", data, got)
		}
	}
}

// kinds are what the folders of the collection of real files hold, by the ends of names; all else there is no
// configuration of a virtual machine.
var kinds = []struct{ pattern, kind string }{
	{"libvirt-*/*.xml", vmconf.Libvirt},
	{"xen-libvirt-xlconfig/*.xml", vmconf.Libvirt},
	{"libvirt-testsuite/*.args", vmconf.QEMU},
	{"proxmox-*/*.conf", vmconf.Proxmox},
	{"proxmox-cfg2cmd/*.cmd", vmconf.QEMU},
	{"qemu-cmdline/*.cmd", vmconf.QEMU},
	{"xen*/*.cfg", vmconf.XL},
}

func collection(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("IOTAX_TESTDATA")
	if dir == "" {
		t.Skip("IOTAX_TESTDATA is not set: no collection of real files here")
	}
	return dir
}

func TestKindOfRealFiles(t *testing.T) {
	dir := collection(t)
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		for _, k := range kinds {
			if ok, _ := filepath.Match(k.pattern, name); ok {
				want = k.kind
			}
		}
		if strings.HasPrefix(name, "libvirt-virtinstall/") && !strings.Contains(string(data), "<domain") {
			want = "" // virt-install failed
		}
		if kind, _ := Kind(data); kind != want {
			t.Errorf("%s: %q, want %q", name, kind, want)
		}
		if storage := strings.HasPrefix(name, "proxmox-storage/"); isStorage(data) != storage {
			t.Errorf("%s: a storage.cfg: %v", name, !storage)
		}
	}
}
