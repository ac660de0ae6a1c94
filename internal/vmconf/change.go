package vmconf

// Names of what a Change can set, of a disk or, where it says so, of its machine.
const (
	SetBus          = "bus" // one of the buses; controllers that it needs are added
	SetCache        = "cache"
	SetAIO          = "aio"
	SetIOThread     = "iothread" // "on" or "off"; the thread that it needs is added
	SetDiscard      = "discard"
	SetDetectZeroes = "detect_zeroes"
	SetQueues       = "queues"
	SetQueueSize    = "queue_size"
	SetL2CacheSize  = "l2_cache_size"
	SetThrottle     = "throttle" // only "": every limit is lifted
	SetSource       = "source"   // another path to the same bytes
	SetPhysical     = "physical_block_size"
	SetHugepages    = "hugepages" // of the machine: "on" or "off"
	SetAgent        = "agent"     // of the machine
	SetBalloon      = "balloon"   // of the machine
	SetMachine      = "machine"   // of the machine
)

// Change is one setting to be made in a configuration, in the words of Setting.Value. "" takes the setting out, so that the
// program's default counts.
type Change struct {
	Disk    string // ID of the disk, "" for the machine
	Setting string // one of the names above
	Value   string
}

// Setting is what a Change of the machine with that name sets, as it is; empty for another name.
func (m VM) Setting(name string) Setting {
	switch name {
	case SetHugepages:
		return m.Hugepages
	case SetAgent:
		return m.Agent
	case SetBalloon:
		return m.Balloon
	case SetMachine:
		return m.Machine
	}
	return Setting{}
}

// Setting is what a Change of the disk with that name sets, as it is; empty for another name. Limits are "on" where there is
// any.
func (d Disk) Setting(name string) Setting {
	switch name {
	case SetBus:
		return d.Bus
	case SetSource:
		return d.Source
	case SetCache:
		return d.Cache
	case SetAIO:
		return d.AIO
	case SetIOThread:
		return d.IOThread
	case SetDiscard:
		return d.Discard
	case SetDetectZeroes:
		return d.DetectZeroes
	case SetQueues:
		return d.Queues
	case SetQueueSize:
		return d.QueueSize
	case SetL2CacheSize:
		return d.L2CacheSize
	case SetPhysical:
		return d.PhysicalBlock
	case SetThrottle:
		if len(d.Throttle) > 0 {
			return Setting{Value: "on", Set: true}
		}
	}
	return Setting{}
}

// OnOff is a switch as a Setting has it.
func OnOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// Document is a configuration that was read. It keeps every byte.
type Document interface {
	// VMs are the machines and the parts of machines that it describes.
	VMs() []VM
	// Bytes is the configuration as it was read.
	Bytes() []byte
	// Change returns the configuration with the changes made in one of its machines (an index into VMs) and every other byte
	// as it was. It fails with a user's fault where its language cannot say a change, all of them at once.
	Change(vm int, changes []Change) ([]byte, error)
}

// Limits of what is read, so that no file can exhaust the machine.
const (
	MaxBytes = 16 << 20
	MaxDepth = 200 // of nested elements
)
