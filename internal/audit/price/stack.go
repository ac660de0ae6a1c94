package price

import (
	"maps"
	"strconv"

	"github.com/iotax/iotax/internal/audit"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/vmconf"
)

// stack is a disk in the words of measured stacks, by the names of settings.
type stack map[string]string

// storage is the one setting of a stack that no change of a configuration can set.
const storage = "storage"

// format is neither.
const format = "format"

// settings are what a disk is matched by, and what a change of it can be matched by.
var settings = []struct {
	name   string
	core   bool // a disk of which this is not known is like no stack
	of     func(s spec.Stack) string
	forget func(s *spec.Stack)
}{
	{vmconf.SetBus, true, func(s spec.Stack) string { return bus(s.Bus) }, func(s *spec.Stack) { s.Bus = "" }},
	{format, true, func(s spec.Stack) string { return s.Format }, func(s *spec.Stack) { s.Format = "" }},
	{vmconf.SetCache, true, func(s spec.Stack) string { return s.Cache }, func(s *spec.Stack) { s.Cache = "" }},
	{vmconf.SetAIO, true, func(s spec.Stack) string { return s.AIO }, func(s *spec.Stack) { s.AIO = "" }},
	{vmconf.SetIOThread, true, func(s spec.Stack) string { return vmconf.OnOff(s.IOThread) }, func(s *spec.Stack) { s.IOThread = false }},
	{storage, true, func(s spec.Stack) string { return s.Storage }, func(s *spec.Stack) { s.Storage = "" }},
	{vmconf.SetDiscard, false, func(s spec.Stack) string { return s.Discard }, func(s *spec.Stack) { s.Discard = "" }},
	{vmconf.SetDetectZeroes, false, func(s spec.Stack) string { return s.DetectZeroes }, func(s *spec.Stack) { s.DetectZeroes = "" }},
	{vmconf.SetQueues, false, func(s spec.Stack) string { return count(int64(s.Queues)) }, func(s *spec.Stack) { s.Queues = 0 }},
	{vmconf.SetQueueSize, false, func(s spec.Stack) string { return count(int64(s.QueueSize)) }, func(s *spec.Stack) { s.QueueSize = 0 }},
	{vmconf.SetL2CacheSize, false, func(s spec.Stack) string { return count(s.L2CacheSize) }, func(s *spec.Stack) { s.L2CacheSize = 0 }},
}

// bus is the name that configurations and stacks share: a virtio-scsi controller of one disk is like another.
func bus(of string) string {
	switch of {
	case "virtio-scsi-single":
		return vmconf.VirtioSCSI
	case "lsi53c895a":
		return vmconf.LSI
	case "blkfront":
		return vmconf.XenBlk
	}
	return of
}

// count is "" for 0, QEMU's own default, of which no stack tells the value.
func count(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// like describes a disk, false where something of it is not known that a stack must have in common with it.
func like(vm vmconf.VM, d vmconf.Disk, v audit.Volume) (stack, bool) {
	s := stack{
		vmconf.SetBus: d.Bus.Value, format: d.Format.Value, vmconf.SetCache: d.Cache.Value, vmconf.SetAIO: d.AIO.Value,
		vmconf.SetIOThread: thread(vm, d), storage: storageOf(d, v),
		vmconf.SetDiscard: d.Discard.Value, vmconf.SetDetectZeroes: d.DetectZeroes.Value,
		vmconf.SetQueues: written(d.Queues), vmconf.SetQueueSize: written(d.QueueSize), vmconf.SetL2CacheSize: written(d.L2CacheSize),
	}
	for _, setting := range settings {
		if setting.core && s[setting.name] == "" {
			return nil, false
		}
	}
	return s, true
}

// written is a count that is not left to QEMU's default.
func written(s vmconf.Setting) string {
	if !s.Set {
		return ""
	}
	return s.Value
}

// thread is "on" or "off": the disk's iothread, or its controller's. Queues that are spread over several are like no stack here.
func thread(vm vmconf.VM, d vmconf.Disk) string {
	t := d.IOThread.Value
	for _, c := range vm.Controllers {
		if v := c.IOThread.Value; c.ID == d.Controller && d.Controller != "" && v != "" && (v != "off" || t == "") {
			t = v
		}
	}
	switch t {
	case "", "mapping":
		return ""
	case "off":
		return "off"
	}
	return "on"
}

// storages gives spec's names to the kinds of storage of libvirt and Proxmox VE that are of this host.
var storages = map[string]string{
	"lvm": "lvm", "lvmthin": "lvm-thin", "logical": "lvm", "zfspool": "zvol", "dir": "file", "fs": "file", "disk": "device", "mpath": "device",
}

// storageOf is one of spec.Storages, "" where it is not known. What was found under the disk counts before what is written.
func storageOf(d vmconf.Disk, v audit.Volume) string {
	switch {
	case v.Dataset != nil && v.Block != nil:
		return "zvol"
	case v.Dataset != nil:
		return "zfs-file"
	case v.LV != nil && v.LV.Thin:
		return "lvm-thin"
	case v.LV != nil:
		return "lvm"
	case v.Block != nil:
		return "device"
	case v.Path != "" || d.Backend == "file" && d.Storage == "":
		return "file"
	case d.Backend == "block" && d.Storage == "":
		return "device"
	}
	return storages[d.Storage]
}

// changed is a disk after changes, false where stacks do not differ in one of them, or nothing changes.
func changed(is stack, disk string, changes []audit.Change) (stack, bool) {
	to := maps.Clone(is)
	for _, c := range changes {
		if _, known := to[c.Setting]; !known || c.Disk != disk || c.Value == "" {
			return nil, false
		}
		to[c.Setting] = c.Value
	}
	return to, !maps.Equal(is, to)
}

// matches reports whether a measured stack is such a disk, in what every disk is matched by and in what it and other differ
// in. Stacks whose disk another process or hypervisor has open are not.
func (s stack) matches(m spec.Stack, other stack) bool {
	if m.Ceiling() || m.OnHost() || m.Xen() || m.Served() != "" || m.VQMapping > 0 {
		return false
	}
	for _, setting := range settings {
		n := setting.name
		if (setting.core || s[n] != other[n]) && setting.of(m) != s[n] {
			return false
		}
	}
	return true
}

// onlyBy reports whether two measured stacks differ in what a change sets, and in nothing else.
func onlyBy(from, to spec.Stack, is, becomes stack) bool {
	for _, s := range []*spec.Stack{&from, &to} {
		s.Name, s.Title, s.Role, s.Bus = "", "", "", bus(s.Bus)
		for _, setting := range settings {
			if is[setting.name] != becomes[setting.name] {
				setting.forget(s)
			}
		}
	}
	return from == to
}
