// Package xen starts one guest of ours as a Xen domain, by xl, and joins its parts: the domain, its console, and the
// agent inside.
package xen

import (
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/sys"
	"github.com/iotax/iotax/internal/unit"
	"github.com/iotax/iotax/internal/xen/xlcfg"
)

// Host is what a machine under Xen can do.
type Host struct {
	Version  string   // of Xen
	Types    []string // of domains, in xl's words
	CPUs     int      // physical ones
	Free     int64    // bytes of memory that no domain has
	Emulated bool     // Xen itself runs on a CPU that QEMU emulates in software
	// DeviceModel is the QEMU that emulates the devices of HVM domains and serves qdisk, "" when there is none.
	DeviceModel string
	NativeAIO   bool // that QEMU is built with Linux's native aio; Debian's is not
}

// commands are the programs of the toolstack that are used.
var commands = []string{"xl", "xenstore-read", "xenstore-ls"}

// deviceModels are where libxl looks for its QEMU, as distributions build it.
var deviceModels = []string{
	"usr/libexec/xen-qemu-system-i386",      // Debian
	"usr/lib/xen*/bin/qemu-system-i386",     // the project's own place
	"usr/libexec/xen*/bin/qemu-system-i386", //
	"usr/local/lib/xen*/bin/qemu-system-i386",
	"usr/bin/qemu-system-i386", // Fedora, SUSE
}

// Look finds out what this machine can do as a host of Xen domains. Where it is none, why says so in a sentence,
// and mend what to do about it. root is "/" outside tests.
func Look(ctx context.Context, root string, r sys.Runner) (h Host, why, mend string) {
	if read(root, "sys/hypervisor/type") != "xen" {
		return h, "this host does not run under Xen", "install Xen (on Debian: apt-get install xen-system-amd64) and boot into it"
	}
	switch capabilities, err := os.ReadFile(filepath.Join(root, "proc/xen/capabilities")); {
	case err != nil:
		return h, "it is not known whether this is Xen's control domain: /proc/xen is not mounted", "mount -t xenfs xenfs /proc/xen"
	case !strings.Contains(string(capabilities), "control_d"):
		return h, "this is a guest of Xen, not its control domain (dom0)", "run iotax in dom0"
	}
	for _, name := range commands {
		if _, err := r.LookPath(name); err != nil {
			return h, name + " is not installed", "install Xen's tools (on Debian: apt-get install xen-utils xenstore-utils)"
		}
	}
	out, err := r.Run(ctx, sys.Command{Argv: []string{"xl", "info"}})
	if err != nil {
		return h, "xl does not answer: " + lastWords(err), "start Xen's daemons (on Debian: service xen start)"
	}
	h = parseInfo(string(out))
	h.Emulated = strings.Contains(read(root, "proc/cpuinfo"), ": QEMU TCG CPU")
	for _, pattern := range deviceModels {
		if found, _ := filepath.Glob(filepath.Join(root, pattern)); len(found) > 0 {
			h.DeviceModel, h.NativeAIO = found[0], loads(found[0], "libaio.so")
			break
		}
	}
	return h, "", ""
}

// Lacks says why a domain of this type, with this many bytes of memory and these disks, cannot be had, and what
// mends it; both are "" when it can.
func (h Host) Lacks(domain string, memory int64, disks ...xlcfg.Disk) (why, mend string) {
	const install = "install it (on Debian: apt-get install qemu-system-xen)"
	switch {
	case !slices.Contains(h.Types, domain) && domain == "pv":
		return "this Xen is built without PV domains", "use type pvh"
	case !slices.Contains(h.Types, domain):
		return "Xen has no " + domain + " domains here: the CPU's virtualization (VT-x, AMD-V) is missing or switched off",
			"switch it on in the firmware, or use type pv"
	case h.DeviceModel == "" && domain == "hvm":
		return "Xen has no QEMU to emulate an HVM domain's devices", install
	case h.Free < needs(memory):
		// xl could take it from dom0, and would never give it back.
		return fmt.Sprintf("Xen has %s of memory left, the domain needs %s", unit.Bytes(h.Free), unit.Bytes(needs(memory))),
			"give dom0 less, by xl mem-set 0 or by dom0_mem= on Xen's command line"
	}
	for _, d := range disks {
		switch {
		case d.Backend == "qdisk" && h.DeviceModel == "":
			return "Xen has no QEMU to serve qdisk", install
		case d.DirectIOSafe && !h.NativeAIO:
			// It would try for ever, and the guest's driver would wait for five minutes.
			return "Xen's QEMU is built without native aio, which qdisk takes for direct I/O", "use qdisk through the page cache (cache writeback), or backend phy"
		}
	}
	return "", ""
}

// needs is what a domain with this many bytes of memory takes in all, generously: Xen keeps page tables and grant
// tables beside it (libxl_domain_need_memory), 8 bytes for each KiB and some for each vCPU.
func needs(memory int64) int64 { return memory + memory/64 + 32<<20 }

// parseInfo reads what `xl info` prints.
func parseInfo(text string) Host {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, ":"); ok {
			fields[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	number := func(key string) int64 { // 0 where xl does not say
		n, _ := strconv.ParseInt(fields[key], 10, 64)
		return n
	}
	h := Host{Version: fields["xen_version"], CPUs: int(number("nr_cpus")), Free: number("free_memory") << 20}
	caps := strings.Fields(fields["xen_caps"])
	if slices.Contains(caps, "xen-3.0-x86_64") {
		h.Types = append(h.Types, "pv")
	}
	if slices.Contains(caps, "hvm-3.0-x86_64") {
		h.Types = append(h.Types, "pvh", "hvm")
	}
	return h
}

// loads reports whether a program loads a library of this name.
func loads(program, library string) bool {
	f, err := elf.Open(program)
	if err != nil {
		return false // a script that starts another, say: what it can do will be seen
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	return err == nil && slices.ContainsFunc(libraries, func(l string) bool { return strings.HasPrefix(l, library) })
}

// lastWords is the last line that a failed program wrote, or how it ended.
func lastWords(err error) string {
	var failed *sys.CommandError
	if errors.As(err, &failed) {
		return cmp.Or(lastLine(failed.Stderr), failed.Err.Error())
	}
	return err.Error()
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

func read(root, path string) string {
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
