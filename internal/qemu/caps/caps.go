// Package caps finds out what a QEMU binary can do by asking it, never by its version number alone, and says why
// it cannot offer a stack.
package caps

import (
	"slices"

	"github.com/iotax/iotax/internal/qemu/qmp"
)

// Caps is what one QEMU binary offers. Lists are sorted.
type Caps struct {
	Binary         string              `json:"binary"` // resolved path
	Version        qmp.Version         `json:"version"`
	Arch           string              `json:"arch"`         // of the guest, such as "x86_64"
	Accelerators   []string            `json:"accelerators"` // compiled in, such as "kvm" and "tcg"; whether they work is another matter
	Machines       []string            `json:"machines"`     // names and aliases
	DefaultMachine string              `json:"default_machine"`
	Devices        []string            `json:"devices"`           // types that -device takes
	Properties     map[string][]string `json:"properties"`        // of the device types that iotax uses
	Drivers        []string            `json:"drivers"`           // block drivers
	AIO            []string            `json:"aio"`               // aio values of files and block devices
	Refused        map[string]string   `json:"refused,omitempty"` // aio value -> what QEMU said when it was tried here
	Qboot          string              `json:"qboot"`             // path of the minimal firmware qboot, "" when QEMU came without
}

// HasMachine reports whether there is a machine type of this name or alias.
func (c Caps) HasMachine(name string) bool { return slices.Contains(c.Machines, name) }

// HasDevice reports whether there is a device type of this name.
func (c Caps) HasDevice(name string) bool { return slices.Contains(c.Devices, name) }

// HasProperty reports whether a device type that iotax uses has the property.
func (c Caps) HasProperty(device, property string) bool {
	return slices.Contains(c.Properties[device], property)
}

// HasAccelerator reports whether the accelerator, "tcg" or "kvm", was compiled in.
func (c Caps) HasAccelerator(name string) bool { return slices.Contains(c.Accelerators, name) }

// Bug is a known fault of some versions of QEMU that bears on what iotax measures.
type Bug struct {
	Accel  string // accelerator that has it
	Fixed  string // first version without it
	Effect string // what it does, for a person
	Mend   string // what iotax does about it, or what a person can do
	Source string // where the fix is
}

type bug struct {
	Bug
	has func(qmp.Version) bool
}

var bugs = []bug{{
	Bug: Bug{
		Accel:  "tcg",
		Fixed:  "8.1",
		Effect: "memory barriers of a guest with one possible CPU are dropped: NVMe and virtio disks hang under load",
		Mend:   "iotax gives every emulated guest at least two possible CPUs",
		Source: "QEMU commit c914d46d0a64, tcg: Do not elide memory barriers for !CF_PARALLEL in system mode",
	},
	has: func(v qmp.Version) bool { return !v.AtLeast(8, 1) },
}}

// KnownBugs returns the bugs of this version under an accelerator. Only the version is looked at: a distribution
// may have taken the fix into an older one.
func (c Caps) KnownBugs(accel string) []Bug {
	var found []Bug
	for _, b := range bugs {
		if b.Accel == accel && b.has(c.Version) {
			found = append(found, b.Bug)
		}
	}
	return found
}
