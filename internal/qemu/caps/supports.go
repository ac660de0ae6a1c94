package caps

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/spec"
)

const (
	fullBuild = "install a full build of QEMU (package qemu-system-x86 on Debian and Ubuntu)"
	newer     = "install a newer QEMU"
)

// aioMend says what makes an aio value work that QEMU knows but refused when it was tried.
var aioMend = map[string]string{
	"io_uring": "allow io_uring: sysctl kernel.io_uring_disabled=0, or leave the container whose seccomp filter forbids it",
	"native":   "allow more asynchronous I/O contexts: sysctl -w fs.aio-max-nr=1048576, or install a QEMU built with libaio",
}

// propertyMend says from which QEMU on there is a property that a device lacks.
var propertyMend = map[string]string{
	"virtio-blk-pci.iothread-vq-mapping":  "install QEMU 9.0 or newer",
	"virtio-scsi-pci.iothread-vq-mapping": "install QEMU 10.0 or newer",
}

// MendRefusal says what helps where a program of QEMU's refuses a stack in these words; otherwise stands for words that are not
// about aio.
func MendRefusal(said, otherwise string) string {
	switch {
	case strings.Contains(said, "io_uring"):
		return aioMend["io_uring"]
	case strings.Contains(said, "AIO"):
		return aioMend["native"]
	}
	return otherwise
}

// Supports returns why this QEMU cannot offer the stack and what would change that, both empty when it can.
func (c Caps) Supports(s spec.Stack) (reason, mend string) {
	need, err := cmdline.Needs(s)
	if err != nil {
		return err.Error(), "change the stack"
	}
	if need.Machine != "" && !c.HasMachine(need.Machine) {
		return fmt.Sprintf("%s has no machine %s", c.name(), need.Machine), fullBuild
	}
	for _, device := range slices.Sorted(maps.Keys(need.Devices)) {
		if !c.HasDevice(device) {
			return fmt.Sprintf("%s has no device %s", c.name(), device), fullBuild
		}
		for _, property := range need.Devices[device] {
			if !c.HasProperty(device, property) {
				return fmt.Sprintf("%s has no %s on %s", c.name(), property, device), cmp.Or(propertyMend[device+"."+property], newer)
			}
		}
	}
	for _, driver := range need.Drivers {
		if !slices.Contains(c.Drivers, driver) {
			return fmt.Sprintf("%s has no block driver %s", c.name(), driver), fullBuild
		}
	}
	return c.supportsAIO(need.AIO)
}

// SupportsIn is Supports of a stack and the guest that it needs: spec.Experiment.GuestOf gives it.
func (c Caps) SupportsIn(s spec.Stack, g spec.Guest) (reason, mend string) {
	if reason, mend = c.Supports(s); reason != "" {
		return reason, mend
	}
	if why := cmdline.MemoryFault(g.MemoryBackend, g.Hugepages, cmdline.NeedsSharedMemory(s)); why != "" {
		return why, "change memory_backend of the guest or the stack"
	}
	if queues := cmp.Or(s.Queues, g.CPUs); s.VQMapping > queues {
		return fmt.Sprintf("iothread_vq_mapping spreads the disk's %d queues over at most so many iothreads, not %d", queues, s.VQMapping),
			"give the guest more cpus, the disk more queues, or fewer iothreads"
	}
	return "", ""
}

func (c Caps) supportsAIO(aio string) (reason, mend string) {
	if aio == "" {
		return "", ""
	}
	if !slices.Contains(c.AIO, aio) {
		return fmt.Sprintf("%s was built without aio=%s", c.name(), aio), fullBuild
	}
	if said, ok := c.Refused[aio]; ok {
		return fmt.Sprintf("%s refuses aio=%s here: %s", c.name(), aio, said), aioMend[aio]
	}
	return "", ""
}

func (c Caps) name() string { return "QEMU " + c.Version.String() }
