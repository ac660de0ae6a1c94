package hostenv

import (
	"cmp"
	"slices"
	"strings"
)

// managers are the package managers that are known, the likeliest first.
var managers = []struct {
	program  string
	install  string
	packages map[string]string // of programs that are not in a package of their own name; as in scripts/setup.sh
	others   map[string]string // of programs that it does not install
}{
	{
		"apt-get", "apt-get install",
		map[string]string{
			"qemu-system-x86_64": "qemu-system-x86", "qemu-img": "qemu-utils",
			"virt-xml-validate": "libvirt-clients", "xmllint": "libxml2-utils",
		},
		map[string]string{"lvm": "lvm2", "zpool": "zfsutils-linux", "zfs": "zfsutils-linux", "mkfs.ext4": "e2fsprogs"},
	},
	{"dnf", "dnf install", map[string]string{"qemu-system-x86_64": "qemu-system-x86-core", "virt-xml-validate": "libvirt-client", "xmllint": "libxml2"}, elsewhere},
	{"pacman", "pacman -S", map[string]string{"qemu-system-x86_64": "qemu-system-x86", "virt-xml-validate": "libvirt", "xmllint": "libxml2"}, elsewhere},
	{"zypper", "zypper install", map[string]string{"qemu-system-x86_64": "qemu-x86", "virt-xml-validate": "libvirt-client", "xmllint": "libxml2-tools"}, elsewhere},
	{"apk", "apk add", map[string]string{"qemu-system-x86_64": "qemu-system-x86_64", "virt-xml-validate": "libvirt-client", "xmllint": "libxml2-utils"}, elsewhere},
}

// elsewhere are the packages of programs on all but Debian.
var elsewhere = map[string]string{"lvm": "lvm2", "zpool": "zfs", "mkfs.ext4": "e2fsprogs"}

// InstallCommand is the command that gives this host the programs; lookPath is as exec.LookPath.
func InstallCommand(lookPath func(string) (string, error), programs ...string) string {
	for _, m := range managers {
		if _, err := lookPath(m.program); err != nil {
			continue
		}
		var packages []string
		for _, name := range programs {
			name = cmp.Or(m.packages[name], m.others[name], name)
			if !slices.Contains(packages, name) {
				packages = append(packages, name)
			}
		}
		return m.install + " " + strings.Join(packages, " ")
	}
	return "install " + strings.Join(programs, ", ") + " by hand: no package manager that is known is here"
}
