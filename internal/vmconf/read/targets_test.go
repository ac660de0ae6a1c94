package read

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/vmconf"
)

// put makes files, and the folders that they need.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	aDomain  = "<domain type='kvm'><name>a</name><devices/></domain>"
	aVM      = "ostype: l26\nscsi0: fast:vm-1-disk-0,size=1G\n"
	aCommand = "qemu-system-x86_64 -m 512 -drive file=a.img,if=virtio\n"
	aGuest   = "name='a'\ndisk=['/dev/a,,xvda']\n"
	storages = "lvm: fast\n\tvgname fast\n\tcontent images\n"
)

// show is a result with paths relative to dir.
func show(dir string, r Result, err error) string {
	var s strings.Builder
	for _, f := range r.Found {
		s.WriteString(f.Kind + " " + f.Path)
		for _, vm := range f.Doc.VMs() {
			for _, d := range vm.Disks {
				s.WriteString(" " + d.ID + "=" + d.Storage)
			}
		}
		s.WriteString("\n")
	}
	for _, x := range r.Skipped {
		s.WriteString("skipped " + x.Path + ": " + x.Why + "\n")
	}
	for _, path := range r.Storages {
		s.WriteString("storages " + path + "\n")
	}
	for _, u := range r.Unknown {
		s.WriteString("unknown " + u.Text + "\n")
	}
	if err != nil {
		s.WriteString(err.Error() + "\n")
	}
	return strings.ReplaceAll(s.String(), dir+"/", "")
}

func TestTargets(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{
		"all/b.xml": aDomain, "all/a/z.cfg": aGuest, "all/a/start.sh": aCommand, "all/README": "words", "all/.git/b.xml": aDomain,
		"pve/nodes/n1/qemu-server/100.conf": aVM, "pve/storage.cfg": storages + "broken\n", "pve/nodes/n1/lxc/101.conf": "ostype: debian\nrootfs: fast:a\n",
		"other/102.conf": aVM, "old/qemu-server/103.conf": aVM, "old/storage.cfg": strings.Replace(storages, "lvm", "lvmthin", 1),
		"none/a.txt": "words", "none/utf16.xml": "\xff\xfe<\x00d\x00", "none/big-endian.xml": "\xfe\xff\x00<\x00d", "bad/a.cfg": "disk=['a\n", "bad/b.xml": "<domain><name></domain>", "bad/c.xml": aDomain,
	})
	if err := os.Symlink(filepath.Join(dir, "all"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "bad", "gone")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "bad", "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(dir, "bad", "large.xml")
	put(t, dir, map[string]string{"bad/large.xml": aDomain})
	if err := os.Truncate(large, 200<<20); err != nil {
		t.Fatal(err)
	}
	const sizes = "209715200 bytes are too many; a configuration has at most 16 MiB\n"
	for _, tt := range []struct {
		targets []string
		want    string
	}{
		{[]string{"all"}, "qemu all/a/start.sh virtio0=\nxl all/a/z.cfg xvda=\nlibvirt all/b.xml\n" +
			"skipped all/.git: a hidden folder\nskipped all/README: no configuration\n"},
		{[]string{"link/", "all/b.xml"}, "qemu link/a/start.sh virtio0=\nxl link/a/z.cfg xvda=\nlibvirt link/b.xml\nlibvirt all/b.xml\n" +
			"skipped link/.git: a hidden folder\nskipped link/README: no configuration\n"},
		{[]string{"all/b.xml", "all/./b.xml"}, "libvirt all/b.xml\n"},
		{[]string{"pve/nodes"}, "proxmox pve/nodes/n1/qemu-server/100.conf scsi0=lvm\nskipped pve/nodes/n1/lxc/101.conf: no configuration\n" +
			"storages pve/storage.cfg\nunknown broken\n"},
		{[]string{"other"}, "proxmox other/102.conf scsi0=\n"},
		{[]string{"other", "pve/storage.cfg"}, "proxmox other/102.conf scsi0=lvm\nstorages pve/storage.cfg\nunknown broken\n"},
		{[]string{"old", "pve", "other"}, "proxmox old/qemu-server/103.conf scsi0=lvmthin\nproxmox pve/nodes/n1/qemu-server/100.conf scsi0=lvm\n" +
			"proxmox other/102.conf scsi0=\nskipped pve/nodes/n1/lxc/101.conf: no configuration\n" +
			"storages old/storage.cfg\nstorages pve/storage.cfg\nunknown broken\n"},
		{[]string{"none"}, "skipped none/a.txt: no configuration\nskipped none/big-endian.xml: no configuration\nskipped none/utf16.xml: no configuration\nnone: no configuration of a virtual machine is in this folder\n"},
		{[]string{"none/utf16.xml", "none/big-endian.xml"}, "none/utf16.xml: it is in UTF-16; expected UTF-8\nnone/big-endian.xml: it is in UTF-16; expected UTF-8\n"},
		{[]string{"none/a.txt", "missing", "/dev/null", "bad/fifo", "bad/large.xml", "bad/c.xml"}, "libvirt bad/c.xml\n" +
			"none/a.txt: no configuration of libvirt, Proxmox VE, QEMU or Xen that could be recognised is in it\n" +
			"missing: no such file or directory\n" +
			"/dev/null: it is a device; expected a file or a folder\n" +
			"bad/fifo: it is a FIFO; expected a file or a folder\n" +
			"bad/large.xml: " + sizes},
	} {
		paths := make([]string, len(tt.targets))
		for i, target := range tt.targets {
			paths[i] = target
			if !filepath.IsAbs(target) {
				paths[i] = dir + "/" + target
			}
		}
		r, err := Targets(paths)
		if err != nil && errkind.CodeOf(err) != errkind.Usage {
			t.Errorf("%v: %v", tt.targets, err)
		}
		if diff := cmp.Diff(tt.want, show(dir, r, err)); diff != "" {
			t.Errorf("%v:\n%s", tt.targets, diff)
		}
	}
	r, err := Targets([]string{filepath.Join(dir, "bad")})
	got := show(dir, r, err)
	for _, want := range []string{
		"libvirt bad/c.xml\n", "skipped bad/fifo: it is a FIFO", "skipped bad/large.xml: " + sizes,
		"\nbad/gone: no such file or directory\n", "\nbad/a.cfg:1  the string 'a is not closed", "\nbad/b.xml:1",
	} {
		if !strings.Contains("\n"+got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// Nobody may read it: one line says so, and what to do.
func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a.xml": aDomain, "b.xml": aDomain})
	if err := os.Chmod(filepath.Join(dir, "a.xml"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(filepath.Join(dir, "a.xml")); err == nil {
		t.Skip("the superuser may read everything")
	}
	r, err := Targets([]string{dir})
	const want = "libvirt b.xml\na.xml: permission denied; run iotax as a user who may read it\n"
	if diff := cmp.Diff(want, show(dir, r, err)); diff != "" {
		t.Error(diff)
	}
}

// The whole collection of real files is read; faults are only those of files that are meant to be wrong.
func TestRealFiles(t *testing.T) {
	dir := collection(t)
	r, err := Targets([]string{dir})
	for line := range strings.Lines(show(dir, Result{}, err)) {
		t.Error(strings.TrimSpace(line))
	}
	count := map[string]int{}
	for _, f := range r.Found {
		count[f.Kind]++
		if len(f.Doc.VMs()) == 0 {
			t.Errorf("%s: no machine", f.Path)
		}
	}
	t.Logf("%v, %d files are no configurations", count, len(r.Skipped))
	for _, kind := range []string{vmconf.Libvirt, vmconf.Proxmox, vmconf.QEMU, vmconf.XL} {
		if count[kind] == 0 {
			t.Errorf("no configuration of %s", kind)
		}
	}
}
