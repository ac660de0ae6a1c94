package xl

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// realFiles returns the configurations that other people wrote, where they are at hand.
func realFiles(t *testing.T, pattern string) []string {
	t.Helper()
	dir := os.Getenv("IOTAX_TESTDATA")
	if dir == "" {
		t.Skip("IOTAX_TESTDATA is not set: no collection of real files here")
	}
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s in %s: %v", pattern, dir, err)
	}
	return files
}

func readReal(t *testing.T, path string) (*Document, []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Parse(filepath.Base(path), data)
	if err != nil {
		t.Fatal(err)
	}
	return d, data
}

// vdev finds the disks of a text in the crudest way: names of virtual devices between commas or after vdev=.
var vdev = regexp.MustCompile(`(?:[,=] *|ioemu:)(hd|sd|xvd)[a-z]+[0-9]*(?:[:,'" ]|$)`)

func TestRealFiles(t *testing.T) {
	for _, path := range realFiles(t, "xen*/*.cfg") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			d, data := readReal(t, path)
			vm := d.VMs()[0]
			want := 0
			for line := range strings.Lines(string(data)) {
				if code, _, _ := strings.Cut(line, "#"); strings.Contains(code, "disk") {
					want += len(vdev.FindAllString(code, -1))
				}
			}
			if len(vm.Disks) != want {
				t.Errorf("%d disks, want %d", len(vm.Disks), want)
			}
			for _, disk := range vm.Disks {
				if disk.Bus.Value == "" || disk.XenBackend.Value == "" || disk.At.Line == 0 {
					t.Errorf("%+v", disk)
				}
			}
			t.Logf("%s: %v", vm.Name, vm.Unknown)
			if same, err := d.Change(0, nil); err != nil || !bytes.Equal(same, data) {
				t.Errorf("no change changes it: %v", err)
			}
		})
	}
}

// domain is what libvirt makes of a configuration.
type domain struct {
	Name   string `xml:"name"`
	Memory int64  `xml:"currentMemory"` // KiB
	CPUs   struct {
		Now   string `xml:"current,attr"`
		Count string `xml:",chardata"`
	} `xml:"vcpu"`
	Type struct {
		Machine string `xml:"machine,attr"`
	} `xml:"os>type"`
	Disks []struct {
		Device string `xml:"device,attr"`
		Type   string `xml:"type,attr"`
		Driver struct {
			Name string `xml:"name,attr"`
			Type string `xml:"type,attr"`
		} `xml:"driver"`
		Source struct {
			File string `xml:"file,attr"`
			Dev  string `xml:"dev,attr"`
			Name string `xml:"name,attr"`
		} `xml:"source"`
		Target struct {
			Dev string `xml:"dev,attr"`
			Bus string `xml:"bus,attr"`
		} `xml:"target"`
		ReadOnly *struct{} `xml:"readonly"`
	} `xml:"devices>disk"`
	Host []struct{} `xml:"devices>hostdev"`
}

// libvirt reads the same configurations: the disks that it finds are ours.
func TestRealFilesAgainstLibvirt(t *testing.T) {
	for _, path := range realFiles(t, "xen-libvirt-xlconfig/*.cfg") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			d, _ := readReal(t, path)
			vm := d.VMs()[0]
			data, err := os.ReadFile(strings.TrimSuffix(path, ".cfg") + ".xml")
			if err != nil {
				t.Fatal(err)
			}
			var x domain
			if err := xml.Unmarshal(data, &x); err != nil {
				t.Fatal(err)
			}
			if x.CPUs.Now == "" {
				x.CPUs.Now = x.CPUs.Count
			}
			if vm.Name != x.Name || vm.Machine.Value != x.Type.Machine || vm.CPUs.Value != x.CPUs.Now || len(vm.Passthrough) != len(x.Host) {
				t.Errorf("%+v, want %+v", vm, x)
			}
			type disk struct {
				Dev, Device, Bus, Source, Backend, Format string
				ReadOnly                                  bool
			}
			var got, want []disk
			for _, v := range vm.Disks {
				// An address of RBD ends where its options begin.
				address, _, _ := strings.Cut(strings.TrimPrefix(v.Source.Value, "rbd:"), ":")
				got = append(got, disk{v.ID, v.Device, v.Bus.Value, address, v.Backend, v.Format.Value, v.ReadOnly})
			}
			for _, v := range x.Disks {
				source, backend := v.Source.File+v.Source.Dev+v.Source.Name, v.Type
				if source == "" {
					backend = "none"
				}
				want = append(want, disk{v.Target.Dev, v.Device, v.Target.Bus, source, backend, v.Driver.Type, v.ReadOnly != nil})
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
