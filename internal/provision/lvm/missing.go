package lvm

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/lvm2"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
)

// Missing says why this host cannot make the volumes of a stack, "" when it can: reason for a person, and what mends
// it: a program that is to be installed, or else a line that says what to do.
func Missing(run sys.Runner, s spec.Stack) (reason, program, mend string) {
	if !lvm2.Installed(run) {
		return "LVM is not installed", "lvm", ""
	}
	if os.Geteuid() != 0 {
		return "only root can make logical volumes", "", "run it with sudo"
	}
	modules := []string{"dm-mod"}
	if thin(s) {
		modules = append(modules, "dm-thin-pool")
	} else if s.Snapshot != "" {
		modules = append(modules, "dm-snapshot")
	}
	for _, module := range modules {
		if !hasModule("/", module) {
			return "this kernel has no module " + module, "", "use a kernel with device-mapper, as distributions build them"
		}
	}
	return "", "", ""
}

// hasModule reports whether the kernel has a module, in itself or to load: LVM loads what it needs.
func hasModule(root, name string) bool {
	for _, loaded := range []string{name, strings.ReplaceAll(name, "-", "_")} {
		if _, err := os.Stat(filepath.Join(root, "sys/module", loaded)); err == nil {
			return true
		}
	}
	if _, err := os.Stat(filepath.Join(root, "dev/mapper/control")); err == nil && name == "dm-mod" {
		return true
	}
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		return false
	}
	dir := filepath.Join(root, "lib/modules", unix.ByteSliceToString(uts.Release[:]))
	for _, list := range []string{"modules.builtin", "modules.dep"} {
		text, err := os.ReadFile(filepath.Join(dir, list))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			path, _, _ := strings.Cut(strings.TrimSpace(line), ":")
			if base, _, _ := strings.Cut(filepath.Base(path), ".ko"); base == name {
				return true
			}
		}
	}
	return false
}
