package audit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

var aioRules = []Rule{{
	ID: "IOT010", Title: "aio=native with the host's page cache", Severity: LargeLoss, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "aio=native with a cache mode that does not open the disk with O_DIRECT.",
	Why:     "Linux AIO is asynchronous with O_DIRECT only. QEMU refuses to start such a disk, libvirt refuses to define it; older ones let the whole machine wait for each request.",
	Sources: []string{qemuInvocation, libvirtDomain},
	disk: func(d disk) []Finding {
		if d.AIO.Value != "native" || !d.buffered() {
			return nil
		}
		f := about("aio", d.AIO, "it needs O_DIRECT, and cache=%s goes through the page cache", d.Cache.Value)
		if d.refusesDirect() {
			return one(f.change(d.set(vmconf.SetAIO, "threads")))
		}
		to := map[string]string{"writeback": "none", "unsafe": "none", "writethrough": "directsync"}[d.Cache.Value]
		return one(f.change(d.set(vmconf.SetCache, to)))
	},
}, {
	ID: "IOT011", Title: "aio=native where room is still to be found", Severity: SmallLoss, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks: "aio=native on a file of which parts are known to have no room on the file system yet: a sparse raw file, a qcow2 image that is not preallocated. Block devices are left alone.",
	Why:   "A write that the file system must find room for is carried out inside io_submit: the thread that submits, and every other disk that it serves, waits.",
	Sources: []string{
		"KubeVirt, io=native only where it is preallocated: https://github.com/kubevirt/kubevirt/issues/4077",
		novaAIO,
	},
	disk: func(d disk) []Finding {
		if d.AIO.Value != "native" || !d.direct() || d.volume.Block != nil || !d.sparse() {
			return nil
		}
		f := about("aio", d.AIO, "%s are not allocated yet, and each first write there blocks whoever submits it", d.unallocated())
		return one(f.change(d.set(vmconf.SetAIO, d.aioForFiles())))
	},
}, {
	ID: "IOT012", Title: "aio=threads where the kernel does it itself", Severity: SmallLoss, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "aio=threads, also as QEMU's default, on a disk opened with O_DIRECT: block devices could have native, files io_uring where QEMU (5.0) and the kernel are known to have it. Left alone: CIFS, disks over a network protocol, QEMU 7.1 with an iothread.",
	Why:     "Each request is handed to a thread of a pool and back: two context switches more, and at most 64 requests at a time.",
	Sources: []string{"Blockbridge, aio=native and io_uring on Proxmox VE: https://kb.blockbridge.com/technote/proxmox-aio-vs-iouring/", "QEMU, io_uring since 5.0: https://wiki.qemu.org/Features/IOUring"},
	disk:    slowAIO,
}, {
	ID: "IOT013", Title: "io_uring and an iothread in QEMU 7.1", Severity: LargeLoss, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "aio=io_uring on a disk with an iothread in QEMU 7.1, whose release 7.1.0 has the fault. Distributions have mended theirs: the finding asks to look.",
	Why:     "The iothread stops looking at completions: the disk hangs, often at boot.",
	Sources: []string{qemuHang, "obs-build leaves iothreads out with 7.1.0: https://github.com/openSUSE/obs-build/pull/893"},
	disk: func(d disk) []Finding {
		v, thread := d.vm.qemu(), d.iothread().Value
		if d.AIO.Value != "io_uring" || thread == "" || thread == "off" || v.Major != 7 || v.Minor != 1 {
			return nil
		}
		f := about("aio", d.AIO, "QEMU 7.1 runs it with iothread %s, and 7.1.0 is known to hang so", thread)
		return one(f.change(d.set(vmconf.SetAIO, d.aioWithoutRing())))
	},
}, {
	ID: "IOT014", Title: "io_uring that this host does not have", Severity: LargeLoss, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "aio=io_uring on a host whose kernel is older than 5.1, has kernel.io_uring_disabled=2, or =1 where QEMU runs without privileges (libvirt).",
	Why:     "QEMU cannot open the disk: the machine does not start again.",
	Sources: []string{"Linux, kernel.io_uring_disabled: https://docs.kernel.org/admin-guide/sysctl/kernel.html#io-uring-disabled"},
	disk: func(d disk) []Finding {
		why := d.vm.noRing()
		if d.AIO.Value != "io_uring" || why == "" {
			return nil
		}
		f := about("aio", d.AIO, "%s", why).change(d.set(vmconf.SetAIO, d.aioWithoutRing()))
		if !kernelBefore(d.vm.host.Kernel, 5, 1) {
			f = f.run("sysctl", "-w", "kernel.io_uring_disabled=0")
		}
		return one(f)
	},
}, {
	ID: "IOT015", Title: "io_uring on storage where it hangs", Severity: LargeLoss, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "aio=io_uring, written in the configuration, on CIFS; or with a cache mode that uses the page cache on thick LVM or a mapped RBD image of Proxmox VE.",
	Why:     "Proxmox VE leaves io_uring off there by default, because guests hung.",
	Sources: []string{proxmoxDrive, "linux-cifs, io_uring since 5.15: https://www.spinics.net/lists/linux-cifs/msg26734.html"},
	disk: func(d disk) []Finding {
		cifs := d.Storage == "cifs" || d.volume.Filesystem == "cifs" || d.volume.Filesystem == "smb3"
		mapped := d.Storage == "lvm" || d.Storage == "rbd" && d.Backend == "block"
		buffered := d.vm.Kind == vmconf.Proxmox && d.buffered() && mapped
		if d.AIO.Value != "io_uring" || !d.AIO.Set || !cifs && !buffered {
			return nil
		}
		where := "CIFS"
		if buffered {
			where = d.Storage + " with cache=" + d.Cache.Value
		}
		return one(about("aio", d.AIO, "guests hung with it on %s", where).change(d.set(vmconf.SetAIO, d.aioWithoutRing())))
	},
}}

func slowAIO(d disk) []Finding {
	cifs := d.Storage == "cifs" || d.volume.Filesystem == "cifs" || d.volume.Filesystem == "smb3"
	if d.AIO.Value != "threads" || !d.direct() || cifs || !d.vm.byQEMU() {
		return nil
	}
	const why = "each request goes through a thread of QEMU's pool and back, where %s hands it to the kernel"
	switch {
	case d.onDevice():
		return one(about("aio", d.AIO, why, "native").change(d.set(vmconf.SetAIO, "native")))
	case d.onFile() && d.aioForFiles() == "io_uring":
		f := about("aio", d.AIO, why, "io_uring")
		if d.vm.host.Kernel == "" {
			f = f.needs("a kernel of the host with io_uring (5.1 or newer), and kernel.io_uring_disabled=0")
		}
		return one(f.change(d.set(vmconf.SetAIO, "io_uring")))
	}
	return nil
}

// aioForFiles is what serves a file best that still grows: io_uring where it is known to work, else threads.
func (d disk) aioForFiles() string {
	v, thread := d.vm.qemu(), d.iothread().Value
	hangs := v.Major == 7 && v.Minor == 1 && thread != "off"
	if !d.vm.atLeast(5, 0) || hangs || d.vm.noRing() != "" {
		return "threads"
	}
	return "io_uring"
}

// aioWithoutRing is what is left without io_uring.
func (d disk) aioWithoutRing() string {
	if d.direct() && d.onDevice() {
		return "native"
	}
	return "threads"
}

// noRing says why the host is known to have no io_uring for the machine, "" where it has or nothing is known.
func (m *machine) noRing() string {
	disabled := m.host.IOURingDisabled
	switch {
	case kernelBefore(m.host.Kernel, 5, 1):
		return "Linux " + m.host.Kernel + " has no io_uring, which came with 5.1"
	case disabled != nil && *disabled == 2:
		return "kernel.io_uring_disabled is 2: nobody may use it"
	case disabled != nil && *disabled == 1 && m.Kind == vmconf.Libvirt:
		return "kernel.io_uring_disabled is 1, and libvirt runs QEMU without privileges"
	}
	return ""
}

// kernelBefore reports whether a release ("6.8.12-4-pve") is known to be older than major.minor.
func kernelBefore(release string, major, minor int) bool {
	parts := strings.FieldsFunc(release, func(r rune) bool { return r < '0' || r > '9' })
	if len(parts) < 2 {
		return false
	}
	a, errA := strconv.Atoi(parts[0])
	b, errB := strconv.Atoi(parts[1])
	return errA == nil && errB == nil && slices.Compare([]int{a, b}, []int{major, minor}) < 0
}
