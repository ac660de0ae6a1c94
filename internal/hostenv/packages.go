package hostenv

import "strings"

// managers are the package managers that are known, the likeliest first.
var managers = []struct {
	program  string
	install  string
	packages map[string]string // of programs that are not in a package of their own name; as in scripts/setup.sh
}{
	{"apt-get", "apt-get install", map[string]string{"qemu-system-x86_64": "qemu-system-x86", "qemu-img": "qemu-utils"}},
	{"dnf", "dnf install", map[string]string{"qemu-system-x86_64": "qemu-system-x86-core"}},
	{"pacman", "pacman -S", map[string]string{"qemu-system-x86_64": "qemu-system-x86"}},
	{"zypper", "zypper install", map[string]string{"qemu-system-x86_64": "qemu-x86"}},
	{"apk", "apk add", map[string]string{"qemu-system-x86_64": "qemu-system-x86_64"}},
}

// InstallCommand is the command that gives this host the programs; lookPath is as exec.LookPath.
func InstallCommand(lookPath func(string) (string, error), programs ...string) string {
	for _, m := range managers {
		if _, err := lookPath(m.program); err != nil {
			continue
		}
		line := m.install
		for _, name := range programs {
			if p, ok := m.packages[name]; ok {
				name = p
			}
			line += " " + name
		}
		return line
	}
	return "install " + strings.Join(programs, ", ") + " by hand: no package manager that is known is here"
}
