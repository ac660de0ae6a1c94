package hostenv

import (
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The packages are those that scripts/setup.sh installs.
func TestPackagesAreThoseOfSetup(t *testing.T) {
	script, err := os.ReadFile("../../scripts/setup.sh")
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[string]string{}, map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\t([a-z-]+/\S+)\) echo (\S+) ;;$`).FindAllStringSubmatch(string(script), -1) {
		want[m[1]] = m[2]
	}
	for _, m := range managers {
		for program, name := range m.packages {
			got[m.program+"/"+program] = name
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-script +hostenv:\n%s", diff)
	}
}

func TestInstallCommand(t *testing.T) {
	for manager, want := range map[string]string{
		"apt-get": "apt-get install qemu-system-x86 fio qemu-utils",
		"dnf":     "dnf install qemu-system-x86-core fio qemu-img",
		"pacman":  "pacman -S qemu-system-x86 fio qemu-img",
		"none":    "install qemu-system-x86_64, fio, qemu-img by hand: no package manager that is known is here",
	} {
		lookPath := func(name string) (string, error) {
			if name == manager {
				return "/usr/bin/" + name, nil
			}
			return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
		}
		if got := InstallCommand(lookPath, "qemu-system-x86_64", "fio", "qemu-img"); got != want {
			t.Errorf("%s: %q, want %q", manager, got, want)
		}
	}
}
