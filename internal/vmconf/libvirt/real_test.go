package libvirt_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/libvirt"
)

// real lists the collection's files of one ending, under folders that match.
func real(t *testing.T, pattern string) []string {
	t.Helper()
	dir := os.Getenv("IOTAX_TESTDATA")
	if dir == "" {
		t.Skip("IOTAX_TESTDATA is not set: no collection of real files here")
	}
	list, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(list) == 0 {
		t.Fatalf("no files like %s: %v", pattern, err)
	}
	return list
}

var (
	comment = regexp.MustCompile(`(?s)<!--.*?-->`)
	ofADisk = regexp.MustCompile(`<disk[\s>/]`)
	domains = regexp.MustCompile(`(?s)<(domain|inactiveDomain)\s[^>]*>.*?</(domain|inactiveDomain)>`)
	outside = regexp.MustCompile(`(?s)<disks>.*?</disks>|<metadata>.*?</metadata>`)
)

// TestReal reads every real file, counts its disks in another way, and changes them.
func TestReal(t *testing.T) {
	for _, path := range append(real(t, "libvirt-*/*.xml"), real(t, "xen-libvirt-xlconfig/*.xml")...) {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			plain := comment.ReplaceAllString(string(data), "")
			doc, err := libvirt.Parse("x", data)
			if err != nil {
				if domains.MatchString(plain) {
					t.Fatal(err)
				}
				return
			}
			want, got := 0, 0
			for _, d := range domains.FindAllString(plain, -1) {
				want += len(ofADisk.FindAllString(outside.ReplaceAllString(d, ""), -1))
			}
			for i, vm := range doc.VMs() {
				got += len(vm.Disks)
				same, err := doc.Change(i, nil)
				if err != nil || string(same) != string(data) {
					t.Errorf("no change changed something: %v", err)
				}
				try(t, doc, i)
			}
			if got != want {
				t.Errorf("%d disks, want %d", got, want)
			}
		})
	}
}

// try makes one change after the other in a machine; each is refused or holds.
func try(t *testing.T, doc *libvirt.Document, i int) {
	t.Helper()
	vm := doc.VMs()[i]
	var list []vmconf.Change
	for _, d := range vm.Disks {
		if slices.ContainsFunc(vm.Disks, func(o vmconf.Disk) bool { return o.ID == d.ID && o.At != d.At }) {
			continue
		}
		for setting, values := range map[string][]string{
			vmconf.SetBus:   {vmconf.VirtioBlk, vmconf.VirtioSCSI, vmconf.SATA, vmconf.LSI, vmconf.USB},
			vmconf.SetCache: {"none", ""}, vmconf.SetAIO: {"io_uring", ""}, vmconf.SetDiscard: {"unmap"},
			vmconf.SetIOThread: {"on", "off"}, vmconf.SetQueues: {"3", ""}, vmconf.SetL2CacheSize: {"1048576", ""},
			vmconf.SetPhysical: {"65536"}, vmconf.SetThrottle: {""}, vmconf.SetSource: {"/srv/other"},
		} {
			for _, v := range values {
				list = append(list, set(d.ID, setting, v))
			}
		}
	}
	for _, setting := range []string{vmconf.SetHugepages, vmconf.SetAgent, vmconf.SetBalloon} {
		list = append(list, set("", setting, "on"), set("", setting, "off"))
	}
	for _, c := range list {
		out, err := doc.Change(i, []vmconf.Change{c})
		if err != nil {
			continue
		}
		after, err := libvirt.Parse("x", out)
		if err != nil {
			t.Fatalf("%+v: %v\n%s", c, err, out)
		}
		holds(t, doc, after, i, []vmconf.Change{c})
	}
}

// TestRealUnknown holds the lists of what is known to libvirt's own documents: nothing of today's schema is a stranger, but
// for what is handed to QEMU, runs at the moment, or limits a device that no disk is on.
func TestRealUnknown(t *testing.T) {
	expected := regexp.MustCompile(`^(qemu:commandline |<qemu:|<ns0:|<mirror |<device>|<unknown:)`)
	for _, path := range real(t, "libvirt-testsuite/*-latest.xml") {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := libvirt.Parse(filepath.Base(path), data)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range doc.VMs()[0].Unknown {
			if !expected.MatchString(u.Text) {
				t.Errorf("%s:%d: %s", u.At.File, u.At.Line, u.Text)
			}
		}
	}
}

// TestRealLines checks the numbers of lines: a setting's own words stand in its line.
func TestRealLines(t *testing.T) {
	for _, path := range real(t, "libvirt-real/*.xml") {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := libvirt.Parse("x", data)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(data), "\n")
		for _, d := range doc.VMs()[0].Disks {
			for name, s := range disks(d) {
				if s.Set && name != vmconf.SetThrottle && (s.At.Line < 1 || !strings.Contains(lines[s.At.Line-1], s.Written)) {
					t.Errorf("%s: %s %s is not in line %s", path, d.ID, s.Written, strconv.Itoa(s.At.Line))
				}
			}
		}
	}
}
