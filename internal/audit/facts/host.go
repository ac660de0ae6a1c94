package facts

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/audit"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/vmconf"
)

// Host looks at the host itself.
func (s Source) Host(ctx context.Context) audit.Host {
	var known record.Host
	s.env().Facts(&known)
	h := audit.Host{
		Kernel: known.Kernel, QEMU: s.qemu(ctx), Memory: known.Memory,
		CPUs:      countList(s.read("sys/devices/system/cpu/online")),
		Nodes:     s.nodes(),
		Governors: s.governors(),
		Swap:      s.memory("proc/meminfo", "SwapTotal:"),
		THP:       bracketed(s.read("sys/kernel/mm/transparent_hugepage/enabled")),
		Hugepages: s.hugepages(),
		Devices:   s.devices(),
	}
	h.Swappiness = whole(s.count("proc/sys/vm/swappiness"))
	h.IOURingDisabled = whole(s.count("proc/sys/kernel/io_uring_disabled"))
	return h
}

func whole(n *int64) *int {
	if n == nil {
		return nil
	}
	return new(int(*n))
}

// emulators are QEMU's names: upstream's, and those of Proxmox VE and Red Hat.
var emulators = []string{"kvm", "/usr/libexec/qemu-kvm", "qemu-kvm", "qemu-system-x86_64", "qemu-system-aarch64"}

var emulatorVersion = regexp.MustCompile(`^QEMU emulator version (\d+)\.(\d+)`)

func (s Source) qemu(ctx context.Context) vmconf.Version {
	for _, name := range emulators {
		if v := emulatorVersion.FindStringSubmatch(s.say(ctx, name, "--version")); v != nil {
			major, _ := strconv.Atoi(v[1])
			minor, _ := strconv.Atoi(v[2])
			return vmconf.Version{Major: major, Minor: minor}
		}
	}
	return vmconf.Version{}
}

// countList counts the members of a list such as "0-3,8".
func countList(list string) (n int) {
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(first)
		if err != nil {
			return 0
		}
		b := a
		if isRange {
			if b, err = strconv.Atoi(last); err != nil {
				return 0
			}
		}
		n += b - a + 1
	}
	return n
}

// bracketed is the chosen word of "always [madvise] never".
func bracketed(text string) string {
	_, rest, _ := strings.Cut(text, "[")
	word, _, _ := strings.Cut(rest, "]")
	return word
}

// memory reads a line such as "SwapTotal:  8388604 kB" as bytes. On the lines of a node the name follows "Node 0".
func (s Source) memory(file, name string) *int64 {
	for line := range strings.Lines(s.read(file)) {
		fields := strings.Fields(line)
		i := slices.Index(fields, name)
		if i < 0 || i+1 >= len(fields) {
			continue
		}
		if kib, err := strconv.ParseInt(fields[i+1], 10, 64); err == nil {
			return new(kib << 10)
		}
	}
	return nil
}

// members lists the files that match a pattern, in order.
func (s Source) members(pattern string) []string {
	found, _ := filepath.Glob(s.path(pattern)) // the pattern is well-formed
	return found
}

func (s Source) nodes() []audit.Node {
	var nodes []audit.Node
	for _, dir := range s.members("sys/devices/system/node/node[0-9]*") {
		id, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), "node"))
		if err != nil {
			continue
		}
		inside := filepath.Join("sys/devices/system/node", filepath.Base(dir))
		node := audit.Node{ID: id, CPUs: countList(s.read(inside, "cpulist"))}
		if memory := s.memory(filepath.Join(inside, "meminfo"), "MemTotal:"); memory != nil {
			node.Memory = *memory
		}
		nodes = append(nodes, node)
	}
	slices.SortFunc(nodes, func(a, b audit.Node) int { return a.ID - b.ID })
	return nodes
}

func (s Source) governors() []string {
	var all []string
	for _, file := range s.members("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor") {
		if text, err := os.ReadFile(file); err == nil {
			all = append(all, strings.TrimSpace(string(text)))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (s Source) hugepages() []audit.Hugepages {
	var pools []audit.Hugepages
	for _, dir := range s.members("sys/kernel/mm/hugepages/hugepages-*kB") {
		name := filepath.Base(dir)
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimPrefix(name, "hugepages-"), "kB"), 10, 64)
		total := s.count("sys/kernel/mm/hugepages", name, "nr_hugepages")
		if err == nil && total != nil {
			pools = append(pools, audit.Hugepages{Size: kib << 10, Total: *total})
		}
	}
	return pools
}

// devices lists all block devices but those that only stand for others or for memory.
func (s Source) devices() []audit.Device {
	var devices []audit.Device
	for _, dir := range s.members("sys/block/*") {
		name := filepath.Base(dir)
		if strings.HasPrefix(name, "loop") || strings.HasPrefix(name, "ram") || strings.HasPrefix(name, "zram") {
			continue
		}
		devices = append(devices, s.device(name, dir))
	}
	return devices
}

// device reads the queue of a disk below /sys; dir is its folder there.
func (s Source) device(name, dir string) audit.Device {
	queue := strings.TrimPrefix(filepath.Join(dir, "queue"), s.path())
	scheduler := s.read(queue, "scheduler")
	if strings.Contains(scheduler, "[") {
		scheduler = bracketed(scheduler)
	}
	d := audit.Device{Name: name, Scheduler: scheduler, WriteCache: s.read(queue, "write_cache")}
	if ahead := s.count(queue, "read_ahead_kb"); ahead != nil {
		d.ReadAhead = new(*ahead << 10)
	}
	if spins := s.count(queue, "rotational"); spins != nil {
		d.Rotational = new(*spins == 1)
	}
	if n := s.count(queue, "logical_block_size"); n != nil {
		d.LogicalBlock = *n
	}
	if n := s.count(queue, "physical_block_size"); n != nil {
		d.PhysicalBlock = *n
	}
	return d
}
