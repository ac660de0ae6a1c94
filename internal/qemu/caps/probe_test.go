package caps

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/spec"
)

// qemu returns the QEMU to test with; IOTAX_QEMU names another one.
func qemu(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath(cmp.Or(os.Getenv("IOTAX_QEMU"), "qemu-system-x86_64"))
	if err != nil {
		t.Skip(err)
	}
	return path
}

func TestProbe(t *testing.T) {
	binary := qemu(t)
	t.Setenv("TMPDIR", t.TempDir())
	c, err := Probe(t.Context(), binary)
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	out, err := exec.Command(binary, "--version").Output()
	if err != nil || !strings.Contains(string(out), "version "+c.Version.String()) {
		t.Errorf("version %s; the binary says %s, %v", c.Version, out, err)
	}
	if !c.HasAccelerator("tcg") || slices.Contains(c.Accelerators, "qtest") {
		t.Errorf("accelerators %v", c.Accelerators)
	}
	for _, machine := range append([]string{c.DefaultMachine}, spec.Machines...) {
		if !c.HasMachine(machine) {
			t.Errorf("no machine %q in %v", machine, c.Machines)
		}
	}
	for _, device := range devices {
		if !c.HasDevice(device) || len(c.Properties[device]) == 0 {
			t.Errorf("no device %s, or no properties: %v", device, c.Properties[device])
		}
	}
	if !c.HasProperty("virtio-blk-pci", "queue-size") || c.HasProperty("virtio-blk-pci", "queue_size") {
		t.Errorf("properties of virtio-blk-pci: %v", c.Properties["virtio-blk-pci"])
	}
	if c.Version.AtLeast(9, 0) != c.HasProperty("virtio-blk-pci", "iothread-vq-mapping") { // true of upstream
		t.Errorf("iothread-vq-mapping of %s: %v", c.Version, c.Properties["virtio-blk-pci"])
	}
	for _, driver := range []string{"file", "host_device", "null-co", "qcow2", "raw"} {
		if !slices.Contains(c.Drivers, driver) {
			t.Errorf("no block driver %s in %v", driver, c.Drivers)
		}
	}
	if !slices.Contains(c.AIO, "threads") || c.Refused["threads"] != "" {
		t.Errorf("aio %v, refused %v", c.AIO, c.Refused)
	}
}

// buses are those of QEMU.
func buses() []string {
	return slices.DeleteFunc(slices.Clone(spec.Buses), func(bus string) bool { return slices.Contains([]string{"blkfront", "null_blk", "host"}, bus) })
}

// TestDevicesAreWhatCmdlineUses keeps the list of probed types in step with the builder.
func TestDevicesAreWhatCmdlineUses(t *testing.T) {
	used := map[string]bool{}
	for _, bus := range buses() {
		need, err := cmdline.Needs(spec.Stack{Format: "raw", Bus: bus, Cache: "none", AIO: "threads"})
		if err != nil {
			t.Fatal(err)
		}
		for device := range need.Devices {
			used[device] = true
			if !slices.Contains(devices, device) {
				t.Errorf("bus %s needs %s, which is not probed", bus, device)
			}
		}
	}
	if len(used) != len(devices) {
		t.Errorf("probed %v, used %v", devices, used)
	}
}

func TestRealQEMUSupportsEveryBus(t *testing.T) {
	c, err := Probe(t.Context(), qemu(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, bus := range buses() {
		if reason, mend := c.Supports(spec.Stack{Format: "raw", Bus: bus, Cache: "none", AIO: "threads"}); reason != "" {
			t.Errorf("%s: %s; %s", bus, reason, mend)
		}
	}
}

func TestProbeFails(t *testing.T) {
	_, err := Probe(t.Context(), filepath.Join(t.TempDir(), "qemu"))
	if errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), "install qemu-system-x86") {
		t.Errorf("no such binary: %v", err)
	}
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho cannot load library >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = Probe(t.Context(), broken)
	if err == nil || !strings.Contains(err.Error(), "cannot load library") || !strings.Contains(err.Error(), broken+" -M none") {
		t.Errorf("a binary that fails: %v, want its argv and stderr", err)
	}
}

func TestCached(t *testing.T) {
	binary, dir := qemu(t), filepath.Join(t.TempDir(), "new", "cache")
	first, err := Cached(t.Context(), binary, dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Refused) > 0 {
		t.Skipf("not kept, since aio is refused here: %v", first.Refused)
	}
	files, _ := os.ReadDir(dir)
	if len(files) != 1 {
		t.Fatalf("in the cache: %v, want one file", files)
	}
	file := filepath.Join(dir, files[0].Name())
	marked := first
	marked.Version.Package = "read from the cache"
	if err := save(file, marked); err != nil {
		t.Fatal(err)
	}
	if got, err := Cached(t.Context(), binary, dir); err != nil || gocmp.Diff(marked, got) != "" {
		t.Errorf("second time: %v\n%s", err, gocmp.Diff(marked, got))
	}
	if err := os.WriteFile(file, []byte("{torn"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got, err := Cached(t.Context(), binary, dir); err != nil || gocmp.Diff(first, got) != "" {
		t.Errorf("after a torn file: %v\n%s", err, gocmp.Diff(first, got))
	}
}

func TestCacheKeyFollowsTheBinary(t *testing.T) {
	file := filepath.Join(t.TempDir(), "qemu")
	key := func(content string) string {
		if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
		k, err := cacheKey(file)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	if one, longer := key("a"), key("ab"); one == longer {
		t.Error("another size, the same key")
	}
	if _, err := cacheKey(file + "-gone"); err == nil {
		t.Error("a key of no file")
	}
}
