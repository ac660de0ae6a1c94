package audit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/audit"
	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/read"
)

// Real configurations of every kind: each change that is proposed can be made, and what it was for is then not found again.
func TestRealConfigurations(t *testing.T) {
	root := os.Getenv("IOTAX_TESTDATA")
	if root == "" {
		t.Skip("IOTAX_TESTDATA is not set")
	}
	if testing.Short() {
		t.Skip("thousands of files")
	}
	for _, folder := range []string{
		"libvirt-real", "libvirt-status", "libvirt-virtinstall", "proxmox-real", "proxmox-cfg2cmd", "qemu-cmdline", "xen", "xen-libvirt-xlconfig",
	} {
		t.Run(folder, func(t *testing.T) {
			result, err := read.Targets([]string{filepath.Join(root, folder)})
			if len(result.Found) == 0 {
				t.Fatal(err)
			}
			findings, changed, refused := 0, 0, 0
			rules := map[string]int{}
			for _, f := range result.Found {
				for _, found := range audit.Audit(f.Doc.VMs(), audit.Host{}, nil) {
					findings++
					rules[found.Rule]++
					if len(found.Changes) == 0 {
						continue
					}
					switch left, err := after(t, f, found, result.Storages); {
					case err != nil:
						if refused++; errkind.CodeOf(err) != errkind.Usage {
							t.Errorf("%s: %v", f.Path, err)
						}
						t.Logf("%s %s %s: %v", filepath.Base(f.Path), found.Rule, found.Disk, err)
					case left:
						t.Errorf("%s: %s is still found of %s after %v", f.Path, found.Rule, found.Disk, found.Changes)
					default:
						changed++
					}
				}
			}
			t.Logf("%d files, %d findings, %d changed, %d refused: %v", len(result.Found), findings, changed, refused, rules)
			if changed == 0 && !strings.HasPrefix(folder, "xen") { // Xen's own drivers carry those disks
				t.Error("no change could be made")
			}
		})
	}
}

// after makes the changes of a finding and reports whether its rule still finds as much.
func after(t *testing.T, f read.Found, found audit.Finding, storages []string) (left bool, err error) {
	t.Helper()
	text, err := f.Doc.Change(found.Index, found.Changes)
	if err != nil {
		return false, err
	}
	path := filepath.Join(t.TempDir(), filepath.Base(f.Path))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := read.Targets(append([]string{path}, storages...))
	if err != nil || len(again.Found) != 1 {
		t.Fatalf("%s changed by %v is read as %d configurations: %v", f.Path, found.Changes, len(again.Found), err)
	}
	return count(again.Found[0].Doc.VMs(), found) >= count(f.Doc.VMs(), found), nil
}

// count is how many findings of the same rule there are in the same machine.
func count(vms []vmconf.VM, like audit.Finding) (n int) {
	for _, f := range audit.Audit(vms, audit.Host{}, nil) {
		if f.Rule == like.Rule && f.Index == like.Index {
			n++
		}
	}
	return n
}
