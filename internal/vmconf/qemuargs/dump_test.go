package qemuargs_test

import (
	"fmt"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// dump writes machines as golden files hold them.
func dump(vms []vmconf.VM) string {
	var b strings.Builder
	for i, v := range vms {
		fmt.Fprintf(&b, "vm %d: name=%q id=%q part=%q line=%d hypervisor=%q guest=%q qemu=%d.%d\n",
			i, v.Name, v.ID, v.Part, v.At.Line, v.Hypervisor, v.Guest, v.QEMU.Major, v.QEMU.Minor)
		for _, s := range []struct {
			name string
			s    vmconf.Setting
		}{
			{"machine", v.Machine},
			{"cpus", v.CPUs},
			{"memory", v.Memory},
			{"hugepages", v.Hugepages},
			{"balloon", v.Balloon},
			{"agent", v.Agent},
			{"pinning", v.Pinning},
			{"numa", v.NUMA},
		} {
			put(&b, "  ", s.name, s.s)
		}
		for _, p := range v.Passthrough {
			put(&b, "  ", "passthrough", p)
		}
		for _, t := range v.IOThreads {
			fmt.Fprintf(&b, "  iothread %s (line %d)\n", t.ID, t.At.Line)
		}
		for _, c := range v.Controllers {
			fmt.Fprintf(&b, "  controller %s: %s (line %d)\n", c.ID, c.Bus, c.At.Line)
			put(&b, "    ", "iothread", c.IOThread)
			put(&b, "    ", "queues", c.Queues)
			put(&b, "    ", "queue_size", c.QueueSize)
		}
		for _, d := range v.Disks {
			dumpDisk(&b, d)
		}
		for _, u := range v.Unknown {
			fmt.Fprintf(&b, "  unknown (line %d): %s\n", u.At.Line, u.Text)
		}
	}
	return b.String()
}

func dumpDisk(b *strings.Builder, d vmconf.Disk) {
	fmt.Fprintf(b, "  disk %s: %s on %q, backend %q, backing %q, read-only %v, shared %v (line %d)\n",
		d.ID, d.Device, d.Controller, d.Backend, d.Backing, d.ReadOnly, d.Shared, d.At.Line)
	for _, s := range []struct {
		name string
		s    vmconf.Setting
	}{
		{"bus", d.Bus},
		{"source", d.Source},
		{"format", d.Format},
		{"cache", d.Cache},
		{"aio", d.AIO},
		{"iothread", d.IOThread},
		{"discard", d.Discard},
		{"detect_zeroes", d.DetectZeroes},
		{"queues", d.Queues},
		{"queue_size", d.QueueSize},
		{"logical", d.LogicalBlock},
		{"physical", d.PhysicalBlock},
		{"l2_cache_size", d.L2CacheSize},
	} {
		put(b, "    ", s.name, s.s)
	}
	for _, s := range d.Throttle {
		put(b, "    ", "throttle", s)
	}
}

func put(b *strings.Builder, indent, name string, s vmconf.Setting) {
	if s.Value == "" && !s.Set && s.Why == "" {
		return
	}
	fmt.Fprintf(b, "%s%s: %q", indent, name, s.Value)
	if s.Set {
		fmt.Fprintf(b, " written %q line %d", s.Written, s.At.Line)
	}
	if s.Why != "" {
		fmt.Fprintf(b, " (%s)", s.Why)
	}
	b.WriteByte('\n')
}
