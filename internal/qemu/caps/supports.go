package caps

import (
	"fmt"
	"maps"
	"slices"

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
				return fmt.Sprintf("%s has no %s on %s", c.name(), property, device), newer
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
