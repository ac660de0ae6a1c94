package libvirt

import (
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// Vendors in the names of libosinfo's operating systems, http://VENDOR/SYSTEM/VERSION.
var vendors = []struct{ part, guest string }{
	{"microsoft.com/", vmconf.Windows},
	{"freebsd.org/", vmconf.Other},
	{"netbsd.org/", vmconf.Other},
	{"openbsd.org/", vmconf.Other},
	{"dragonflybsd.org/", vmconf.Other},
	{"apple.com/", vmconf.Other},
	{"haiku-os.org/", vmconf.Other},
	{"oracle.com/solaris", vmconf.Other},
	{"sun.com/", vmconf.Other},
	{"opensolaris", vmconf.Other},
	{"omnios", vmconf.Other},
	{"smartos", vmconf.Other},
	{"ibm.com/os2", vmconf.Other},
	{"novell.com/netware", vmconf.Other},
	{"gnu.org/hurd", vmconf.Other},
	{"debian.org/debian/hurd", vmconf.Other},
	{"freedos.org/", vmconf.Other},
	{"minix3.org/", vmconf.Other},
	{"reactos.org/", vmconf.Windows},
	{"vmware.com/", vmconf.Other},
	{"libosinfo.org/linux", vmconf.Linux},
	{"fedoraproject.org/", vmconf.Linux},
	{"redhat.com/", vmconf.Linux},
	{"centos.org/", vmconf.Linux},
	{"debian.org/", vmconf.Linux},
	{"ubuntu.com/", vmconf.Linux},
	{"opensuse.org/", vmconf.Linux},
	{"suse.com/", vmconf.Linux},
	{"archlinux.org/", vmconf.Linux},
	{"alpinelinux.org/", vmconf.Linux},
	{"oracle.com/ol", vmconf.Linux},
	{"almalinux.org/", vmconf.Linux},
	{"rockylinux.org/", vmconf.Linux},
	{"gentoo.org/", vmconf.Linux},
	{"mageia.org/", vmconf.Linux},
	{"mandriva.com/", vmconf.Linux},
	{"altlinux.org/", vmconf.Linux},
	{"manjaro.org/", vmconf.Linux},
	{"nixos.org/", vmconf.Linux},
	{"voidlinux.org/", vmconf.Linux},
	{"guix.gnu.org/", vmconf.Linux},
	{"scientificlinux.org/", vmconf.Linux},
	{"android-x86.org/", vmconf.Linux},
	{"endlessos.com/", vmconf.Linux},
	{"elementary.io/", vmconf.Linux},
	{"pureos.net/", vmconf.Linux},
	{"system76.com/", vmconf.Linux},
	{"linuxmint.com/", vmconf.Linux},
	{"zorin", vmconf.Linux},
	{"cirros-cloud.net/", vmconf.Linux},
	{"asianux.com/", vmconf.Linux},
	{"eurolinux.com/", vmconf.Linux},
	{"circle-linux", vmconf.Linux},
	{"openeuler", vmconf.Linux},
	{"slackware.com/", vmconf.Linux},
	{"trisquel.info/", vmconf.Linux},
	{"tails.boum.org/", vmconf.Linux},
	{"silverblue", vmconf.Linux},
}

// guest finds the operating system: by what the metadata say (libosinfo's, or Unraid's), else by Hyper-V's interfaces, which
// are switched on for Windows. The second result says how it is known.
func guest(dom *element) (kind, detail string) {
	if meta := dom.kid("metadata"); meta != nil {
		meta.walk(func(e *element) bool {
			switch {
			case detail != "":
			case e.name == "os" && strings.Contains(e.space, "libosinfo"):
				detail = e.get("id")
			case e.name == "vmtemplate" && e.get("os") != "":
				detail = e.get("os")
			}
			return detail == ""
		})
	}
	if kind = guestOf(detail); kind == "" && dom.kid("features", "hyperv") != nil {
		kind = vmconf.Windows
		if detail == "" {
			detail = "Hyper-V's interfaces are on"
		}
	}
	return kind, detail
}

func guestOf(detail string) string {
	for _, v := range vendors {
		if strings.Contains(detail, v.part) {
			return v.guest
		}
	}
	switch { // Unraid's words
	case strings.Contains(detail, "://") || detail == "":
		return ""
	case strings.HasPrefix(detail, "windows"):
		return vmconf.Windows
	case strings.HasPrefix(detail, "bsd"), strings.HasPrefix(detail, "freebsd"), strings.HasPrefix(detail, "osx"):
		return vmconf.Other
	}
	return vmconf.Linux
}

// hasSMC reports whether QEMU is handed the controller of a Mac, without which macOS does not start.
func hasSMC(dom *element) (found bool) {
	dom.walk(func(e *element) bool {
		found = found || e.name == "arg" && strings.HasPrefix(e.get("value"), "isa-applesmc")
		return !found
	})
	return found
}
