package qemuargs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/qemuargs"
)

var (
	reFront = regexp.MustCompile(`-device[ \\\n'"]+(?:\{"driver":")?(virtio-blk|vhost-user-blk|vhost-user-scsi-pci|scsi-(?:hd|cd|block|generic|disk)|ide-(?:hd|cd|drive|cf)|nvme-ns|usb-storage|floppy|sd-card)[-a-z]*`)
	reDrive = regexp.MustCompile(`-drive[ \\\n'"]+\S+`)
	reShort = regexp.MustCompile(`(?m)(?:^|\s)-(?:hd[a-d]|cdrom|fd[ab])\s`)
	reAlone = regexp.MustCompile(`' [A-Za-z][^\s'=]* \\\n`) // a word that no option takes
	reServe = regexp.MustCompile(`--export[ =]`)
	reNVMe  = regexp.MustCompile(`"?driver"?[:=]?"?nvme"?,\S*drive|-device[ ']+nvme,\S*drive=`)
)

// count counts disks by looking for the words that make them.
func count(text string) int {
	n := len(reFront.FindAllString(text, -1)) + len(reShort.FindAllString(text, -1)) + len(reNVMe.FindAllString(text, -1)) +
		len(reAlone.FindAllString(text, -1)) + len(reServe.FindAllString(text, -1))
	for _, d := range reDrive.FindAllString(text, -1) {
		if !strings.Contains(d, "if=none") && !strings.Contains(d, "if=pflash") {
			n++
		}
	}
	return n
}

// Every real file is read: no disk is lost, and a change that changes nothing leaves every byte.
func TestRealFiles(t *testing.T) {
	root := os.Getenv("IOTAX_TESTDATA")
	if root == "" {
		t.Skip("IOTAX_TESTDATA is not set")
	}
	read := 0
	for _, pattern := range []string{"qemu-cmdline/*", "libvirt-testsuite/*.args", "proxmox-cfg2cmd/*.conf.cmd"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files %v", pattern, err)
		}
		for _, f := range files {
			read++
			t.Run(filepath.Base(f), func(t *testing.T) { realFile(t, f) })
		}
	}
	t.Logf("%d files", read)
}

func realFile(t *testing.T, f string) {
	data, err := os.ReadFile(f)
	if err != nil {
		t.Fatal(err)
	}
	d, err := qemuargs.Parse(f, data)
	if err != nil {
		t.Fatal(err)
	}
	got := 0
	for i, vm := range d.VMs() {
		for _, disk := range vm.Disks {
			if disk.Bus.Value != "" || strings.Contains(disk.Bus.Why, "controller") {
				got++
			}
		}
		same, err := d.Change(i, nil)
		if err != nil || !bytes.Equal(same, data) {
			t.Errorf("a change of nothing changes bytes: %v", err)
		}
	}
	for i, vm := range d.VMs() {
		for j := range min(len(vm.Disks), 3) {
			changeOne(t, d, i, j)
		}
	}
	if want := count(string(data)); got != want {
		t.Errorf("%d disks, %d are in the text\n%s", got, want, dump(d.VMs()))
	}
}

// changeOne makes changes of one disk: those that are accepted leave every other disk as it was.
func changeOne(t *testing.T, d *qemuargs.Document, vm, disk int) {
	before := d.VMs()[vm]
	for _, c := range []vmconf.Change{
		{Setting: vmconf.SetCache, Value: "directsync"},
		{Setting: vmconf.SetCache, Value: "unsafe"},
		{Setting: vmconf.SetAIO, Value: "io_uring"},
		{Setting: vmconf.SetDiscard, Value: "unmap"},
		{Setting: vmconf.SetDetectZeroes, Value: "on"},
		{Setting: vmconf.SetQueues, Value: "3"},
		{Setting: vmconf.SetBus, Value: vmconf.VirtioSCSI},
		{Setting: vmconf.SetBus, Value: vmconf.VirtioBlk},
		{Setting: vmconf.SetPhysical, Value: "4096"},
		{Setting: vmconf.SetSource, Value: "/dev/disk/by-id/a,b c"},
		{Setting: vmconf.SetL2CacheSize, Value: "8388608"},
	} {
		c.Disk = before.Disks[disk].ID
		out, err := d.Change(vm, []vmconf.Change{c})
		if err != nil {
			t.Logf("refused: %v", err)
			continue
		}
		again, err := qemuargs.Parse("again", out)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		after := again.VMs()[vm]
		if len(after.Unknown) != len(before.Unknown) {
			t.Errorf("%+v: what is not understood was %v, is %v", c, before.Unknown, after.Unknown)
		}
		for k, was := range before.Disks {
			shared := c.Setting == vmconf.SetQueues && was.Controller != "" && was.Controller == before.Disks[disk].Controller
			is := after.Disks[k]
			if k != disk && !shared && (is.ID != was.ID || is.Bus.Value != was.Bus.Value || is.Cache.Value != was.Cache.Value ||
				is.AIO.Value != was.AIO.Value || is.Discard.Value != was.Discard.Value || is.Source.Value != was.Source.Value ||
				is.Queues.Value != was.Queues.Value || is.DetectZeroes.Value != was.DetectZeroes.Value) {
				t.Errorf("%+v changes %s from\n%+v to\n%+v", c, was.ID, was, is)
			}
		}
	}
}
