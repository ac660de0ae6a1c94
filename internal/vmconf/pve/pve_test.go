package pve_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/pve"
)

// TestParse has whole machines as golden files: with the storages of the node, and without.
func TestParse(t *testing.T) {
	storage := readStorage(t, "testdata/storage.cfg")
	for _, c := range []struct {
		file, golden string
		storage      pve.Storage
	}{
		{"100.conf", "100.json", storage},
		{"sections.conf", "sections.json", storage},
		{"100.conf", "100-without-storage.json", pve.Storage{}},
	} {
		t.Run(c.golden, func(t *testing.T) {
			d := readConf(t, filepath.Join("testdata", c.file), c.storage)
			text, err := json.MarshalIndent(d.VMs(), "", "\t")
			if err != nil {
				t.Fatal(err)
			}
			golden.Equal(t, filepath.Join("testdata", c.golden), string(text)+"\n")
			for _, vm := range d.VMs() {
				places(t, d, vm)
			}
		})
	}
}

// places asks of every line that a machine names whether it says what is claimed of it.
func places(t *testing.T, d *pve.Document, vm vmconf.VM) {
	t.Helper()
	lines := strings.Split(string(d.Bytes()), "\n")
	for _, disk := range vm.Disks {
		if line := strings.TrimSpace(lines[disk.At.Line-1]); !strings.HasPrefix(line, disk.ID+":") {
			t.Errorf("%s is said to be in line %d, which is %q", disk.ID, disk.At.Line, line)
		}
		for _, s := range append([]vmconf.Setting{disk.Bus, disk.Cache, disk.AIO, disk.IOThread, disk.Discard, disk.Source}, disk.Throttle...) {
			if s.Set && !strings.Contains(lines[s.At.Line-1], s.Written) {
				t.Errorf("%s: %q is said to be in line %d, which is %q", disk.ID, s.Written, s.At.Line, lines[s.At.Line-1])
			}
		}
	}
}

// TestSettings has single lines whose effect is not what they look like.
func TestSettings(t *testing.T) {
	storage := readStorage(t, "testdata/storage.cfg")
	type want struct{ cache, aio, iothread, queues, queueSize string }
	for _, c := range []struct {
		name, conf string
		want       want
	}{
		{"thin", "scsi0: local-lvm:x\nscsihw: virtio-scsi-single", want{"none", "io_uring", "off", "1", "256"}},
		{"thick", "virtio0: shared:x\ncores: 3", want{"none", "native", "off", "3", "256"}},
		{"thick and cached", "virtio0: shared:x,cache=unsafe", want{"unsafe", "threads", "off", "1", "256"}},
		{"thick by choice", "virtio0: shared:x,aio=io_uring", want{"none", "io_uring", "off", "1", "256"}},
		{"librbd", "virtio0: ceph:x,aio=native", want{"none", "", "off", "1", "256"}},
		{"btrfs", "virtio0: butter:x", want{"writeback", "io_uring", "off", "1", "256"}},
		{"old machine", "virtio0: local-lvm:x\nmachine: pc-i440fx-4.2\ncores: 4", want{"none", "io_uring", "off", "1", "128"}},
		{"Windows without a version", "virtio0: local-lvm:x\nostype: win10\ncores: 4", want{"none", "io_uring", "off", "1", "256"}},
		{"pluggable CPUs", "virtio0: local-lvm:x\ncores: 4\nhotplug: disk,cpu", want{"none", "io_uring", "off", "1", "256"}},
		{"iothread", "scsi0: local-lvm:x,iothread=1\nscsihw: virtio-scsi-single", want{"none", "io_uring", "on", "1", "256"}},
		{"iothread ignored", "scsi0: local-lvm:x,iothread=1\nscsihw: virtio-scsi-pci", want{"none", "io_uring", "off", "1", "256"}},
		{"iothread of none", "ide0: local-lvm:x,iothread=1", want{"none", "io_uring", "off", "", ""}},
		{"queues", "scsi0: local-lvm:x,queues=3\nscsihw: virtio-scsi-single", want{"none", "io_uring", "off", "3", "256"}},
		{"queues ignored", "scsi0: local-lvm:x,queues=3\nscsihw: virtio-scsi-pci", want{"none", "io_uring", "off", "1", "256"}},
		{"lsi", "scsi0: local-lvm:x", want{"none", "io_uring", "off", "", ""}},
		{"a wrong word", "virtio0: local-lvm:x,cache=off", want{"", "io_uring", "off", "1", "256"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := pve.Parse("100.conf", []byte(c.conf), storage)
			if err != nil {
				t.Fatal(err)
			}
			disk := d.VMs()[0].Disks[0]
			got := want{disk.Cache.Value, disk.AIO.Value, disk.IOThread.Value, disk.Queues.Value, disk.QueueSize.Value}
			if got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func TestMachine(t *testing.T) {
	for _, c := range []struct{ conf, want string }{
		{"cores: 2", "pc"},
		{"arch: aarch64", "virt"},
		{"machine: q35,viommu=intel", "q35"},
		{"machine: viommu=virtio", "pc"},
		{"machine: type=pc-q35-9.2+pve1", "pc-q35-9.2"},
		{"machine: pc-q35-4.1+pve2.pxe", "pc-q35-4.1"},
		{"ostype: win11", "pc-i440fx-5.1"},
		{"ostype: w2k8\nmachine: q35\nmeta: creation-qemu=9.0.2", "pc-q35-5.1"},
		{"ostype: win11\nmachine: q35\nmeta: creation-qemu=10.0.2,ctime=1", "pc-q35-10.0"},
	} {
		d, err := pve.Parse("100.conf", []byte(c.conf), pve.Storage{})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.VMs()[0].Machine.Value; got != c.want {
			t.Errorf("%q is %q, want %q", c.conf, got, c.want)
		}
	}
}

func TestID(t *testing.T) {
	for file, want := range map[string]string{
		"/etc/pve/qemu-server/100.conf": "100", "101.conf": "101", "node_4711.conf": "4711", "web.conf": "", "v-1.conf": "", "7.2-100.txt": "",
	} {
		d, err := pve.Parse(file, []byte("cores: 1"), pve.Storage{})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.VMs()[0].ID; got != want {
			t.Errorf("%s is VM %q, want %q", file, got, want)
		}
	}
}

// TestRefused has what is no configuration: one line, a user's fault.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", " \n", "x.conf: it is empty"},
		{"UTF-16", "c\x00o\x00r\x00e\x00s\x00", "x.conf: line 1 holds a NUL byte: Proxmox VE's configurations are UTF-8 text"},
		{"prose", "Dear all,\nplease find: attached\n", "x.conf: no line of it is an option of a VM: it is not a configuration of Proxmox VE"},
		{"XML", "<domain>\n</domain>\n", "x.conf: no line of it is an option of a VM: it is not a configuration of Proxmox VE"},
		{"large", strings.Repeat("cores: 1\n", 2<<17), "x.conf: larger than 1 MiB: it is not a configuration of Proxmox VE"},
		{"long", strings.Repeat("a\n", 60_000), "x.conf: more than 20000 lines: it is not a configuration of Proxmox VE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := pve.Parse("x.conf", []byte(c.text), pve.Storage{})
			if err == nil || err.Error() != c.want || errkind.CodeOf(err) != errkind.Usage {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

func TestStorage(t *testing.T) {
	s := readStorage(t, "testdata/storage.cfg")
	if p := s.Pools["chain"]; p.Type != "dir" || p.Options["path"] != "/srv/chain" || !p.On("snapshot-as-volume-chain") || p.At.Line != 21 {
		t.Errorf("chain is %+v", p)
	}
	text := "dir: a\n\tpath /x\ndir: a\n  # note\n\tsparse\nloose end\n"
	s, err := pve.ParseStorage("storage.cfg", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []vmconf.Unknown{
		{Text: "a: replaced by the storage of the same name in line 3", At: vmconf.Place{File: "storage.cfg", Line: 1}},
		{Text: "loose end", At: vmconf.Place{File: "storage.cfg", Line: 6}},
	}
	if diff := cmp.Diff(want, s.Unknown); diff != "" {
		t.Error(diff)
	}
	if p := s.Pools["a"]; p.Options["path"] != "" || !p.On("sparse") {
		t.Errorf("a is %+v", p)
	}
	if _, err := pve.ParseStorage("storage.cfg", []byte("cores: 1 2\n")); errkind.CodeOf(err) != errkind.Usage {
		t.Errorf("no storage at all: %v", err)
	}
}

// TestHostile has inputs that would fill the memory, or take for ever, of a reader that was not careful.
func TestHostile(t *testing.T) {
	storage := readStorage(t, "testdata/storage.cfg")
	for name, text := range map[string]string{
		"a drive of many parts":   "scsi0: x:y," + strings.Repeat("b,", 500_000),
		"one of many limits":      "scsi0: x:y," + strings.Repeat("iops=1,", 140_000),
		"many drives":             "cores: 1\n" + strings.Repeat("scsi1: x:y,bad\n", 19_000),
		"many sections":           "cores: 1\n" + strings.Repeat("[a]\n", 19_000),
		"many pending":            strings.Repeat("scsi1: x:y\n", 9000) + strings.Repeat("[PENDING]\n", 9000),
		"many parents":            "parent: a\nscsi0: chain:y.qcow2\n[a]\nparent: a\nscsi0: chain:y.qcow2\n",
		"one long line":           "cores: 1\nname: " + strings.Repeat(" #", 500_000),
		"a line that is no line":  "cores: 1\n" + strings.Repeat("[", 1_000_000),
		"many devices":            "hostpci0: " + strings.Repeat("1;", 500_000),
		"a number without an end": "cores: " + strings.Repeat("9", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			d, err := pve.Parse("100.conf", []byte(text), storage)
			if err != nil {
				t.Fatal(err)
			}
			unknown := d.VMs()[0].Unknown
			if len(unknown) > 1001 {
				t.Errorf("%d things are not understood", len(unknown))
			}
			for _, u := range unknown {
				if len(u.Text) > 1000 {
					t.Fatalf("%d bytes are said of line %d", len(u.Text), u.At.Line)
				}
			}
			if same, err := d.Change(0, nil); err != nil || string(same) != text {
				t.Errorf("no change is one: %v", err)
			}
		})
	}
}
