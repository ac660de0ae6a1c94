package pve

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// byDefault is the reason for a value that Proxmox VE gives to what is not written.
const byDefault = "Proxmox VE's default"

// vm is the machine that a configuration describes.
func (c *conf) vm() vmconf.VM {
	m := vmconf.VM{
		Kind: vmconf.Proxmox, Name: c.value("name"), ID: vmID(c.doc.file), Part: c.part, At: c.start(),
		Hypervisor: "kvm", GuestDetail: c.value("ostype"),
		Machine: c.machine(), CPUs: c.cpus(), MaxCPUs: c.maxCPUs(), Memory: c.memory(), Hugepages: c.hugepages(), Balloon: c.balloon(),
		Agent: c.agent(), Pinning: c.pinning(), NUMA: c.numa(), Passthrough: c.passthrough(),
	}
	m.Guest = guest(m.GuestDetail)
	if strings.Contains(c.value("args"), "isa-applesmc") && m.Guest != vmconf.Linux && m.Guest != vmconf.Windows {
		m.GuestDetail = "macos" // no ostype says so
	}
	if on, _, _ := c.flag("kvm", true); !on {
		m.Hypervisor = "tcg"
	}
	b := board{conf: c, version: machineVersion(m.Machine.Value), boot: c.bootCPUs(m.CPUs), listed: map[string]bool{}}
	b.template, _, _ = c.flag("template", false)
	for _, e := range c.entries {
		s, ok := driveKey(e.key)
		switch {
		case ok:
			m.Disks = append(m.Disks, b.disk(e, s))
		case !option(e.key):
			c.note(e, "not an option of a VM")
		case e.key == "args":
			c.note(e, "arguments for QEMU itself, which are not read")
		}
	}
	m.Controllers, m.Unknown = b.controllers, c.unknown
	if c.section.kind == pendingSection { // the lines before it are the current machine's
		m.Unknown = slices.DeleteFunc(m.Unknown, func(u vmconf.Unknown) bool { return u.At.Line < c.section.line })
	}
	return m
}

// guest is the operating system of an ostype.
func guest(ostype string) string {
	switch {
	case ostype == "":
		return ""
	case strings.HasPrefix(ostype, "w"):
		return vmconf.Windows
	case ostype == "l24", ostype == "l26":
		return vmconf.Linux
	}
	return vmconf.Other
}

var (
	pveSuffix  = regexp.MustCompile(`(\+pve[0-9]+)?(\.pxe)?$`)
	versioned  = regexp.MustCompile(`-([0-9]{1,4})\.([0-9]{1,4})`)
	creation   = regexp.MustCompile(`(?:^|,)creation-qemu=([0-9]{1,4})\.([0-9]{1,4})`)
	bareNumber = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)
)

// machineVersion is the version in a machine's type; that of the QEMU which is installed, unknown here, where it has none.
func machineVersion(machine string) vmconf.Version {
	m := versioned.FindStringSubmatch(machine)
	if m == nil {
		return vmconf.Version{}
	}
	return version(m[1], m[2])
}

func version(major, minor string) (v vmconf.Version) {
	v.Major, _ = strconv.Atoi(major)
	v.Minor, _ = strconv.Atoi(minor)
	return v
}

// machine is the type of the machine. Windows never gets a newer one by itself: without a version it has that of the QEMU
// which made the VM, from 9.1 on, and 5.1 before.
func (c *conf) machine() vmconf.Setting {
	e, ok := c.find("machine")
	kind, written := parseProperties(e.value, "type").get("type")
	if !ok || !written {
		kind = "pc"
		if c.value("arch") == "aarch64" {
			kind = "virt"
		}
	}
	kind = pveSuffix.ReplaceAllString(kind, "")
	pinned := kind
	if guest(c.value("ostype")) == vmconf.Windows {
		pinned = windowsMachine(kind, c.value("meta"))
	}
	switch {
	case !written:
		why := byDefault
		if pinned != kind {
			why = "Proxmox VE's default for Windows"
		}
		return vmconf.Default(pinned, why, c.start())
	case pinned != kind:
		s := vmconf.Written(pinned, e.value, c.doc.at(e.line))
		s.Why = "Proxmox VE's version for Windows"
		return s
	}
	return vmconf.Written(kind, e.value, c.doc.at(e.line))
}

func windowsMachine(kind, meta string) string {
	prefix := map[string]string{"pc": "pc-i440fx", "q35": "pc-q35", "virt": "virt"}[kind]
	if prefix == "" {
		return kind
	}
	v := vmconf.Version{Major: 5, Minor: 1}
	if m := creation.FindStringSubmatch(meta); m != nil {
		if made := version(m[1], m[2]); !made.Before(9, 1) {
			v = made
		}
	}
	return fmt.Sprintf("%s-%d.%d", prefix, v.Major, v.Minor)
}

// cpus are the vCPUs at the start.
func (c *conf) cpus() vmconf.Setting {
	if n, e, ok := c.number("vcpus", 0); ok && n > 0 {
		return vmconf.Written(strconv.FormatInt(n, 10), e.value, c.doc.at(e.line))
	}
	return c.allCPUs()
}

// maxCPUs are the vCPUs with those that can be plugged in, 0 where all are there from the start.
func (c *conf) maxCPUs() int64 {
	if n, _, ok := c.number("vcpus", 0); !ok || n <= 0 {
		return 0
	}
	n, _ := strconv.ParseInt(c.allCPUs().Value, 10, 64)
	return n
}

// allCPUs are all that the sockets hold.
func (c *conf) allCPUs() vmconf.Setting {
	legacy, _, _ := c.number("smp", 1)
	sockets, se, bySockets := c.number("sockets", legacy)
	cores, ce, byCores := c.number("cores", 1)
	value := strconv.FormatInt(max(sockets, 1)*max(cores, 1), 10)
	switch {
	case byCores:
		s := vmconf.Written(value, ce.value, c.doc.at(ce.line))
		if sockets > 1 {
			s.Why = "sockets times cores"
		}
		return s
	case bySockets:
		return vmconf.Written(value, se.value, c.doc.at(se.line))
	}
	return vmconf.Default(value, byDefault, c.start())
}

// bootCPUs are the vCPUs that QEMU knows of when it counts queues: with CPUs that can be plugged, all but the first are
// plugged after that.
func (c *conf) bootCPUs(all vmconf.Setting) vmconf.Setting {
	features := strings.FieldsFunc(c.value("hotplug"), func(r rune) bool { return strings.ContainsRune(",; ", r) })
	for _, f := range features {
		if f == "cpu" {
			e, _ := c.find("hotplug")
			return vmconf.Default("1", "QEMU starts with one vCPU because CPUs can be plugged", c.doc.at(e.line))
		}
	}
	return vmconf.Default(all.Value, "QEMU's default: one for each vCPU", all.At)
}

const mebibyte = 1 << 20

// memory is in bytes.
func (c *conf) memory() vmconf.Setting {
	const least = 512 // MiB
	e, ok := c.find("memory")
	if !ok {
		return vmconf.Default(strconv.Itoa(least*mebibyte), byDefault, c.start())
	}
	text, _ := parseProperties(e.value, "current").get("current")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > 1<<40 {
		c.note(e, "not a number of MiB")
		return vmconf.Setting{Set: true, Written: e.value, At: c.doc.at(e.line)}
	}
	return vmconf.Written(strconv.FormatInt(n*mebibyte, 10), e.value, c.doc.at(e.line))
}
