package pve_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/pve"
)

// TestReal reads every file of the kinds: nothing is lost, and no change is no change.
func TestReal(t *testing.T) {
	read := 0
	for _, folder := range []string{"proxmox-cfg2cmd", "proxmox-parser", "proxmox-real"} {
		files, err := filepath.Glob(filepath.Join(testdata(t), folder, "*.conf"))
		if err != nil || len(files) == 0 {
			t.Fatalf("nothing in %s: %v", folder, err)
		}
		for _, file := range files {
			read++
			d := readConf(t, file, pve.Storage{})
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if string(d.Bytes()) != string(want) {
				t.Errorf("%s: the bytes are not the file's", file)
			}
			for i, vm := range d.VMs() {
				places(t, d, vm)
				if strings.HasPrefix(vm.Part, "snapshot ") {
					continue
				}
				if got, err := d.Change(i, nil); err != nil || string(got) != string(want) {
					t.Errorf("%s: no change gives other bytes (%v)", file, err)
				}
			}
			oneLineChanges(t, file, d, string(want))
			if got, want := count(d), dumb(string(want)); got < want {
				t.Errorf("%s: %d disks, but %d lines look like one", file, got, want)
			}
		}
	}
	t.Logf("%d configurations", read)
	files, err := filepath.Glob(filepath.Join(testdata(t), "proxmox-storage", "*.cfg"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no storage.cfg: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := len(readStorage(t, file).Pools), headers(string(data)); got != want {
			t.Errorf("%s: %d storages, want %d", file, got, want)
		}
	}
}

// oneLineChanges changes the cache of each disk, which is a matter of one line.
func oneLineChanges(t *testing.T, file string, d *pve.Document, before string) {
	t.Helper()
	for _, disk := range d.VMs()[0].Disks {
		after, err := d.Change(0, []vmconf.Change{{Disk: disk.ID, Setting: vmconf.SetCache, Value: "directsync"}})
		if (err == nil) != (disk.Device == "disk" || disk.Device == "lun" || disk.Device == "cdrom") {
			t.Errorf("%s: %s is a %s: %v", file, disk.ID, disk.Device, err)
		}
		if err != nil {
			continue
		}
		was, is, differ := strings.Split(before, "\n"), strings.Split(string(after), "\n"), 0
		for i := range was {
			if len(is) == len(was) && was[i] != is[i] {
				differ++
			}
		}
		wanted := 1
		if disk.Cache.Value == "directsync" {
			wanted = 0
		}
		if len(is) != len(was) || differ != wanted || !strings.Contains(is[disk.At.Line-1], "cache=directsync") {
			t.Errorf("%s: %s: %d lines differ", file, disk.ID, differ)
		}
	}
}

// count is how many disks are told of, those in sections without effect among them.
func count(d *pve.Document) int {
	n := 0
	for _, vm := range d.VMs() {
		if vm.Part != "pending" {
			n += len(vm.Disks)
		}
		for _, u := range vm.Unknown {
			if strings.Contains(u.Text, "has no effect there") || strings.Contains(u.Text, "so this has no effect") {
				n++
			}
		}
	}
	return n
}

// dumb counts lines that begin like a disk's. Those of pending changes are told of once more, in the machine that they make.
func dumb(text string) int {
	n, pending := 0, false
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "[") {
			pending = strings.HasPrefix(line, "[PENDING]")
		}
		for _, bus := range []string{"ide", "sata", "scsi", "virtio", "efidisk", "tpmstate", "unused"} {
			rest, ok := strings.CutPrefix(line, bus)
			if ok && !pending && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
				n++
			}
		}
	}
	return n
}

func headers(text string) int {
	n := 0
	for _, line := range strings.Split(text, "\n") {
		if line != "" && !strings.ContainsAny(line[:1], " \t#\r") {
			n++
		}
	}
	return n
}

// TestStrict has the configurations that qemu-server refuses when it is strict: the section that it names is said here too,
// and what takes effect is what it reads when it is not.
func TestStrict(t *testing.T) {
	faults, err := filepath.Glob(filepath.Join(testdata(t), "proxmox-parser", "*.strict.error"))
	if err != nil || len(faults) == 0 {
		t.Fatalf("no fault of qemu-server's: %v", err)
	}
	for _, file := range faults {
		fault, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(string(fault))
		section := "[" + strings.Trim(words[len(words)-1], "'") + "]"
		result := strings.TrimSuffix(file, ".strict.error")
		d := readConf(t, strings.Replace(result, "expected", "input", 1), pve.Storage{})
		if !slices.ContainsFunc(d.VMs()[0].Unknown, func(u vmconf.Unknown) bool {
			return strings.HasPrefix(strings.ToLower(u.Text), section)
		}) {
			t.Errorf("%s: nothing is said of %s: %v", file, section, d.VMs()[0].Unknown)
		}
		if diff := cmp.Diff(essence(readConf(t, result, pve.Storage{})), essence(d)); diff != "" {
			t.Errorf("%s (-qemu-server +ours):\n%s", result, diff)
		}
	}
}

// essence is what takes effect, without places.
func essence(d *pve.Document) map[string][]string {
	m := map[string][]string{}
	for _, vm := range d.VMs() {
		for _, disk := range vm.Disks {
			m[vm.Part] = append(m[vm.Part], disk.ID+" "+disk.Source.Value+" "+disk.Bus.Value+" "+disk.Cache.Value+" "+vm.CPUs.Value+" "+vm.Name)
		}
	}
	return m
}
