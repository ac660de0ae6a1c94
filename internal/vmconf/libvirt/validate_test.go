package libvirt_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/libvirt"
)

// valid asks libvirt's own schema of a document, and returns what that said.
func valid(t *testing.T, doc []byte) (said string, ok bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "domain.xml")
	if err := os.WriteFile(path, doc, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("virt-xml-validate", path, "domain").CombinedOutput()
	return string(out), err == nil
}

func needValidator(t *testing.T) {
	t.Helper()
	for _, program := range []string{"virt-xml-validate", "xmllint"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed (Debian: libvirt-clients, libxml2-utils)", program)
		}
	}
}

// TestValid changes machines in all ways at once and asks libvirt's schema of the result.
func TestValid(t *testing.T) {
	needValidator(t)
	for _, c := range changes {
		if c.file != "desk.xml" { // the others hold what no libvirt takes, on purpose
			continue
		}
		out, err := fixture(t, c.file).Change(c.vm, c.list)
		if err != nil {
			t.Fatal(err)
		}
		if said, ok := valid(t, out); !ok {
			t.Errorf("%s: %s\n%s", c.name, said, out)
		}
	}
}

// TestRealValid does so with real machines that are valid themselves.
func TestRealValid(t *testing.T) {
	needValidator(t)
	paths := append(real(t, "libvirt-real/*.xml"), real(t, "libvirt-testsuite/disk-*latest.xml")...)
	asked := 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := libvirt.Parse("x", data)
		if err != nil {
			continue
		}
		if _, ok := valid(t, data); !ok {
			continue
		}
		for _, bus := range []string{vmconf.VirtioBlk, vmconf.VirtioSCSI, vmconf.SATA} {
			now, made := data, 0
			for _, c := range everything(doc.VMs()[0], bus) {
				cur, err := libvirt.Parse("x", now)
				if err != nil {
					t.Fatal(err)
				}
				if c.Disk != "" { // a disk keeps its place, not its name
					c.Disk = cur.VMs()[0].Disks[place(doc.VMs()[0], c.Disk)].ID
				}
				if out, err := cur.Change(0, []vmconf.Change{c}); err == nil {
					now, made = out, made+1
				}
			}
			asked += made
			if said, ok := valid(t, now); !ok {
				t.Errorf("%s %s: %s\n%s", path, bus, said, now)
			}
		}
	}
	if asked == 0 {
		t.Error("no document was changed")
	}
}

func place(vm vmconf.VM, disk string) int {
	for i, d := range vm.Disks {
		if d.ID == disk {
			return i
		}
	}
	return 0
}

// everything is every change of a machine that there is.
func everything(vm vmconf.VM, bus string) []vmconf.Change {
	var list []vmconf.Change
	for _, d := range vm.Disks {
		list = append(list,
			set(d.ID, vmconf.SetBus, bus), set(d.ID, vmconf.SetCache, "none"), set(d.ID, vmconf.SetAIO, "native"),
			set(d.ID, vmconf.SetDiscard, "unmap"), set(d.ID, vmconf.SetDetectZeroes, "unmap"), set(d.ID, vmconf.SetIOThread, "on"),
			set(d.ID, vmconf.SetQueues, "2"), set(d.ID, vmconf.SetQueueSize, "512"), set(d.ID, vmconf.SetL2CacheSize, "4194304"),
			set(d.ID, vmconf.SetPhysical, "4096"), set(d.ID, vmconf.SetThrottle, ""), set(d.ID, vmconf.SetSource, "/srv/a&b"))
	}
	return append(list, set("", vmconf.SetHugepages, "on"), set("", vmconf.SetAgent, "on"), set("", vmconf.SetBalloon, "off"))
}

// TestQuotes keeps the quotation marks, line ends and depths of the document.
func TestQuotes(t *testing.T) {
	doc, err := libvirt.Parse("x", []byte("<domain type=\"kvm\">\r\n\t<name>n</name>\r\n\t<devices>\r\n\t\t<disk type=\"file\">\r\n"+
		"\t\t\t<target dev=\"sda\" bus=\"sata\" />\r\n\t\t</disk>\r\n\t</devices>\r\n</domain>\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := doc.Change(0, []vmconf.Change{set("sda", vmconf.SetCache, "none"), set("sda", vmconf.SetBus, vmconf.VirtioSCSI), set("", vmconf.SetAgent, "on")})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), "'") || strings.Count(string(out), "\r\n") != strings.Count(string(out), "\n") ||
		!strings.Contains(string(out), "\r\n\t\t<channel type=\"unix\">\r\n\t\t\t<target type=\"virtio\" name=\"org.qemu.guest_agent.0\"/>\r\n\t\t</channel>\r\n\t</devices>") {
		t.Errorf("%q", out)
	}
}
