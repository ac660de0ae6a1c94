package xlcfg_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/xen/xlcfg"
)

// domain is a PV domain with two disks.
func domain() xlcfg.Config {
	return xlcfg.Config{
		Name: "iotax-run-1", UUID: "6f9c1f0e-8f1c-4f5c-9c7b-0a5d2b1c3e4f", Type: "pv", CPUs: 2, Memory: 512 << 20,
		Kernel: "/cache/guest/vmlinux", Initrd: "/cache/guest/initrd.cpio", Append: "console=hvc0 loglevel=1 iotax.port=hvc0",
		Disks: []xlcfg.Disk{
			{VDev: "xvda", Path: "/dev/zvol/tank/iotax-1", Format: "raw", Backend: "phy"},
			{VDev: "xvdb", Path: "/scratch/iotax-run/disk=1.raw", Format: "raw", Backend: "phy", ReadOnly: true},
		},
	}
}

func TestText(t *testing.T) {
	for name, change := range map[string]func(*xlcfg.Config){
		"pv":      func(*xlcfg.Config) {},
		"minimal": func(c *xlcfg.Config) { c.UUID, c.Initrd, c.Append, c.Disks, c.CPUs = "", "", "", nil, 1 },
		"pvh-emulated-host": func(c *xlcfg.Config) {
			c.Type, c.TSCMode, c.CPUID, c.Pins = "pvh", "native", "host,rdtscp=0", []int{0, 3}
		},
		"qdisk": func(c *xlcfg.Config) {
			c.Disks[0].Backend, c.Disks[0].DirectIOSafe = "qdisk", true
			c.Disks[1].Backend, c.Disks[1].Format = "qdisk", "qcow2"
		},
		"hvm": func(c *xlcfg.Config) { c.Type = "hvm" },
		"hvm-ide": func(c *xlcfg.Config) {
			c.Type, c.Append = "hvm", "console=hvc0 xen_emul_unplug=never"
			c.Disks[0].VDev, c.Disks[1].VDev, c.Disks[1].Backend = "hda", "hdb", "qdisk"
		},
		"quoted": func(c *xlcfg.Config) {
			c.Kernel, c.Append = `/a "b"\c/it's, here/vmlinux`, `dyndbg="file x +p"`
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := domain()
			change(&c)
			text, err := xlcfg.Text(c)
			if err != nil {
				t.Fatal(err)
			}
			golden.Equal(t, filepath.Join("testdata", name+".cfg"), text)
		})
	}
}

// TestGoldenFilesAreUsed finds files that no case writes any more.
func TestGoldenFilesAreUsed(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 8 { // the cases of TestText, and faults
		t.Errorf("%d golden files: %v", len(files), files)
	}
}

func TestFaultsAllAtOnce(t *testing.T) {
	text, err := xlcfg.Text(xlcfg.Config{
		Name: "a b", UUID: "7", Type: "hvm64", Pins: []int{0, -1}, Memory: 1<<20 + 1, TSCMode: "fast", Append: "a\nb",
		Disks: []xlcfg.Disk{
			{VDev: "vda", Path: "/dev/x", Format: "raw", Backend: "tap"},
			{VDev: "hda", Path: "relative", Format: "vhd", Backend: "qdisk"},
			{VDev: "xvdb", Path: "/with blank", Format: "qcow2", Backend: "phy", DirectIOSafe: true},
			{VDev: "xvdb", Path: "/x,access=ro", Format: "raw", Backend: "phy"},
		},
	})
	if text != "" || errkind.CodeOf(err) != errkind.Usage {
		t.Fatalf("%q, %v", text, err)
	}
	golden.Equal(t, filepath.Join("testdata", "faults.txt"), err.Error()+"\n")
}

// TestPathsThatCannotPass are those that another reader on the way would take for something else.
func TestPathsThatCannotPass(t *testing.T) {
	for _, path := range []string{"", "disk", "/a b", "/a,", "/a\n", "/a'b", `/a"b`, `/a\b`, "/$HOME", "/a;b", "/é", "/a*"} {
		c := domain()
		c.Disks[0].Path = path
		if _, err := xlcfg.Text(c); err == nil || !strings.Contains(err.Error(), "disk xvda") {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestSerial(t *testing.T) {
	for vdev, want := range map[string]string{"xvda": "xvda", "xvdz": "xvdz", "hda": "QM00001", "hdd": "QM00004"} {
		if got := (xlcfg.Disk{VDev: vdev}).Serial(); got != want {
			t.Errorf("%s: %q, want %q", vdev, got, want)
		}
	}
}
