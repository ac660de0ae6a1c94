// Package xlcfg writes the configuration of a Xen domain as xl reads it (xl.cfg(5), xl-disk-configuration(5)).
// It is pure.
package xlcfg

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
)

const mebibyte = 1 << 20

// Enumerations, in xl's own words.
var (
	Types    = []string{"pv", "pvh", "hvm"}
	Backends = []string{"phy", "qdisk"}
	formats  = []string{"raw", "qcow2"}
	tscModes = []string{"", "default", "native", "always_emulate", "native_paravirt"}
)

// Config is one domain that boots a kernel of ours. Empty strings leave the part out.
type Config struct {
	Name   string
	UUID   string
	Type   string // one of Types
	CPUs   int    // vCPUs
	Pins   []int  // physical CPU of each vCPU; none: wherever Xen's scheduler puts them
	Memory int64  // bytes, whole MiB
	Kernel string // path: an ELF vmlinux, or a bzImage
	Initrd string
	Append string // kernel command line

	TSCMode string // tsc_mode
	CPUID   string // cpuid policy, in libxl's syntax
	Disks   []Disk
}

// Disk is one disk of a domain.
type Disk struct {
	VDev         string // "xvda" to "xvdz": blkfront; "hda" to "hdd", hvm only: emulated IDE
	Path         string // of a file or block device, absolute
	Format       string // "raw", or "qcow2" with backend qdisk
	Backend      string // one of Backends: the kernel's blkback, or a QEMU beside the domain
	ReadOnly     bool
	DirectIOSafe bool // qdisk: O_DIRECT and native aio in place of the page cache and threads
}

// Emulated reports whether the guest has the disk on emulated IDE, without Xen's drivers.
func (d Disk) Emulated() bool { return strings.HasPrefix(d.VDev, "hd") }

// Serial is what the guest's kernel shows as the disk's serial or, since blkfront has none, what our agent takes for
// it: the name. QEMU numbers its IDE disks in the order of their places.
func (d Disk) Serial() string {
	if d.Emulated() {
		return fmt.Sprintf("QM%05d", d.VDev[len("hd")]-'a'+1)
	}
	return d.VDev
}

// Text returns the configuration. Everything wrong with c is returned at once, as errkind.List.
func Text(c Config) (string, error) {
	var f faults
	f.domain(c)
	f.disks(c)
	if err := f.list.Err(); err != nil {
		return "", err
	}
	var b strings.Builder
	set := func(key, value string) { fmt.Fprintf(&b, "%s = %s\n", key, value) }
	set("name", quote(c.Name))
	if c.UUID != "" {
		set("uuid", quote(c.UUID))
	}
	set("type", quote(c.Type))
	set("vcpus", strconv.Itoa(c.CPUs))
	if len(c.Pins) > 0 {
		set("cpus", pins(c.Pins))
	}
	set("memory", strconv.FormatInt(c.Memory/mebibyte, 10))
	for _, o := range []struct{ key, value string }{
		{"kernel", c.Kernel}, {"ramdisk", c.Initrd}, {"cmdline", c.Append}, {"tsc_mode", c.TSCMode}, {"cpuid", c.CPUID},
	} {
		if o.value != "" {
			set(o.key, quote(o.value))
		}
	}
	if c.Type == "hvm" { // the machine that QEMU emulates has a disk controller and little else
		set("device_model_version", quote("qemu-xen"))
		set("vga", quote("none"))
		set("nographic", "1")
		set("vnc", "0")
		set("usb", "0")
	}
	// A domain that ends stays, so that it can be asked why. Whoever started it ends it.
	for _, event := range []string{"on_poweroff", "on_reboot", "on_crash"} {
		set(event, quote("preserve"))
	}
	if len(c.Disks) > 0 {
		b.WriteString("disk = [\n")
		for _, d := range c.Disks {
			fmt.Fprintf(&b, "  %s,\n", quote(d.spec()))
		}
		b.WriteString("]\n")
	}
	return b.String(), nil
}

// Spec returns the disk as an entry of xl's list of disks, in quotes. Everything wrong with it is returned at once, as
// errkind.List.
func (d Disk) Spec() (string, error) {
	var f faults
	f.disk(d)
	return quote(d.spec()), f.list.Err()
}

// spec writes one disk. The target comes last, where all that follows belongs to it.
func (d Disk) spec() string {
	access := "rw"
	if d.ReadOnly {
		access = "ro"
	}
	parts := []string{"vdev=" + d.VDev, "format=" + d.Format, "access=" + access, "backendtype=" + d.Backend}
	if d.DirectIOSafe {
		parts = append(parts, "direct-io-safe")
	}
	return strings.Join(append(parts, "target="+d.Path), ",")
}

func pins(cpus []int) string {
	list := make([]string, len(cpus))
	for i, c := range cpus {
		list[i] = quote(strconv.Itoa(c))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// quote writes a string that xl reads as s (libxlu_cfg: a backslash takes the next quote or backslash as it is).
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

type faults struct{ list errkind.List }

func (f *faults) add(format string, args ...any) {
	f.list = append(f.list, errkind.Userf(format, args...))
}

var (
	goodName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*$`)
	goodUUID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	goodVDev = regexp.MustCompile(`^(xvd[a-z]|hd[a-d])$`)
	// goodPath holds what passes unchanged through the parser of disks, xenstore and the hotplug scripts, which are
	// shell scripts that do not always quote.
	goodPath = regexp.MustCompile(`^/[A-Za-z0-9_./:+@%=~-]*$`)
)

func (f *faults) domain(c Config) {
	if !goodName.MatchString(c.Name) {
		f.add("domain name %q: want letters, digits and _ . + - only", c.Name)
	}
	if c.UUID != "" && !goodUUID.MatchString(c.UUID) {
		f.add("domain %q: %q is no UUID", c.Name, c.UUID)
	}
	if !slices.Contains(Types, c.Type) {
		f.add("domain type %q: want one of %v", c.Type, Types)
	}
	if c.CPUs < 1 {
		f.add("%d CPUs: want at least 1", c.CPUs)
	}
	if len(c.Pins) > 0 && len(c.Pins) != c.CPUs {
		f.add("%d CPUs to pin %d vCPUs to: want one for each", len(c.Pins), c.CPUs)
	}
	for _, p := range c.Pins {
		if p < 0 {
			f.add("no CPU has the number %d", p)
		}
	}
	if c.Memory < mebibyte || c.Memory%mebibyte != 0 {
		f.add("memory of %d bytes: want whole MiB", c.Memory)
	}
	if c.Kernel == "" {
		f.add("no kernel to boot")
	}
	if !slices.Contains(tscModes, c.TSCMode) {
		f.add("tsc_mode %q: want one of %q", c.TSCMode, tscModes[1:])
	}
	for _, o := range []struct{ what, value string }{
		{"kernel", c.Kernel}, {"ramdisk", c.Initrd}, {"kernel command line", c.Append}, {"cpuid", c.CPUID},
	} {
		if strings.ContainsFunc(o.value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			f.add("%s %q: a control character cannot be written into a configuration of xl", o.what, o.value)
		}
	}
}

func (f *faults) disks(c Config) {
	taken := map[string]bool{}
	emulated := 0
	for _, d := range c.Disks {
		switch {
		case !goodVDev.MatchString(d.VDev):
			f.add("disk %q: want xvda to xvdz, or hda to hdd", d.VDev)
		case taken[d.VDev]:
			f.add("disk %s is there twice", d.VDev)
		case d.Emulated() && c.Type != "hvm":
			f.add("disk %s: a domain of type %s has no emulated disks", d.VDev, c.Type)
		}
		taken[d.VDev] = true
		if d.Emulated() {
			emulated++
		}
		f.disk(d)
	}
	if emulated > 0 && emulated < len(c.Disks) {
		f.add("a domain has emulated disks or paravirtual ones, not both: its kernel unplugs the former when it uses the latter")
	}
}

func (f *faults) disk(d Disk) {
	if !slices.Contains(Backends, d.Backend) {
		f.add("disk %s: backend %q: want one of %v", d.VDev, d.Backend, Backends)
	}
	if !slices.Contains(formats, d.Format) {
		f.add("disk %s: format %q: want one of %v", d.VDev, d.Format, formats)
	} else if d.Format != "raw" && d.Backend == "phy" {
		f.add("disk %s: backend phy cannot read format %s: want qdisk", d.VDev, d.Format)
	}
	if d.DirectIOSafe && d.Backend == "phy" {
		f.add("disk %s: direct-io-safe means nothing to backend phy", d.VDev)
	}
	if !goodPath.MatchString(d.Path) {
		f.list = append(f.list, errkind.WithHint(
			errkind.Userf("disk %s: Xen's scripts cannot take the path %q", d.VDev, d.Path),
			"give a place whose path has letters, digits and _ . / : + @ %% = ~ - only"))
	}
}
