// Package meter counts what the host's disks and processors did around a window.
package meter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Meter reads the kernel's counters. Root is "" for this host; tests give a folder with a small /proc and /sys.
type Meter struct {
	Root    string
	Devices []string // kernel names of the block devices to count: "sda", "nvme0n1", "cciss!c0d0"
}

// Disk holds the counters of one block device since it appeared, and the requests in flight at the moment.
type Disk struct {
	Reads, Writes         int64 // completed requests, after merging
	ReadBytes, WriteBytes int64
	Flushes               *int64 // completed flush requests; nil before Linux 5.5, which does not count them
	InFlight              int64
	Busy                  time.Duration // with at least one request in flight
}

// CPU holds the time of one processor, or of all together, since the machine started.
type CPU struct {
	Busy, Idle, Steal time.Duration // Idle holds the wait for I/O; Steal is what a hypervisor gave to others
}

// Total is all time that passed.
func (c CPU) Total() time.Duration { return c.Busy + c.Idle + c.Steal }

// Snapshot is every counter at one moment.
type Snapshot struct {
	At    time.Time // with the monotonic clock
	Disks []Disk    // as Meter.Devices
	All   CPU       // the whole host
	CPUs  map[int]CPU
	ARC   *ARC // nil where ZFS is not loaded
}

// Delta is what happened between two snapshots. Its disks are the sum over all devices.
type Delta struct {
	Elapsed  time.Duration
	Disk     Disk // InFlight is that at the end
	All      CPU
	CPUs     map[int]CPU
	ARC      *ARC // Size is that at the end; nil where it could not be counted
	HasDisks bool // false: there was no device to count, and Disk means nothing
}

// Snapshot reads every counter: one small file for each device, the head of /proc/stat, and what ZFS counts.
func (m Meter) Snapshot() (Snapshot, error) {
	s := Snapshot{At: time.Now()}
	for _, name := range m.Devices {
		// /sys/class/block has partitions too, unlike /sys/block.
		path := m.path("sys/class/block", name, "stat")
		text, err := os.ReadFile(path)
		if err != nil {
			return s, err
		}
		disk, err := parseDisk(text)
		if err != nil {
			return s, fmt.Errorf("%s: %w", path, err)
		}
		s.Disks = append(s.Disks, disk)
	}
	text, err := readHead(m.path("proc/stat"))
	if err != nil {
		return s, err
	}
	if s.All, s.CPUs, err = parseCPUs(text); err != nil {
		return s, fmt.Errorf("%s: %w", m.path("proc/stat"), err)
	}
	s.ARC, err = m.arc()
	return s, err
}

func (m Meter) path(parts ...string) string {
	root := m.Root
	if root == "" {
		root = "/"
	}
	return filepath.Join(append([]string{root}, parts...)...)
}

// ErrBackwards is the error of Sub when a counter of a disk fell: the device was replaced during the window.
var ErrBackwards = errors.New("a counter of the disk fell: it was replaced by another one")

// Sub gives what happened from an earlier snapshot of the same Meter to this one.
func (s Snapshot) Sub(earlier Snapshot) (Delta, error) {
	d := Delta{
		Elapsed: s.At.Sub(earlier.At), All: s.All.sub(earlier.All),
		CPUs: map[int]CPU{}, ARC: s.ARC.sub(earlier.ARC), HasDisks: len(s.Disks) > 0,
	}
	for id, now := range s.CPUs {
		if before, ok := earlier.CPUs[id]; ok { // else it came online meanwhile
			d.CPUs[id] = now.sub(before)
		}
	}
	if len(s.Disks) != len(earlier.Disks) {
		return d, errors.New("the snapshots are of different devices")
	}
	zero := int64(0)
	if d.HasDisks {
		d.Disk.Flushes = &zero
	}
	for i, now := range s.Disks {
		if err := d.Disk.add(now, earlier.Disks[i]); err != nil {
			return d, err
		}
	}
	return d, nil
}

// add adds what one device did from before to now.
func (d *Disk) add(now, before Disk) error {
	reads, writes := now.Reads-before.Reads, now.Writes-before.Writes
	readBytes, writeBytes := now.ReadBytes-before.ReadBytes, now.WriteBytes-before.WriteBytes
	var flushes int64
	if now.Flushes != nil && before.Flushes != nil {
		flushes = *now.Flushes - *before.Flushes
	}
	if min(reads, writes, readBytes, writeBytes, flushes) < 0 {
		return ErrBackwards
	}
	d.Reads += reads
	d.Writes += writes
	d.ReadBytes += readBytes
	d.WriteBytes += writeBytes
	d.InFlight += now.InFlight
	d.Busy += busy(now.Busy, before.Busy)
	switch {
	case now.Flushes == nil || before.Flushes == nil:
		d.Flushes = nil // one that is not counted makes the sum unknown
	case d.Flushes != nil:
		sum := *d.Flushes + flushes
		d.Flushes = &sum
	}
	return nil
}

// busyWrap is where the kernel's count of busy milliseconds starts anew: it is 32 bits wide.
const busyWrap = time.Millisecond << 32

func busy(now, before time.Duration) time.Duration {
	if now < before {
		now += busyWrap
	}
	return now - before
}

// sub never gives less than nothing: the kernel's idle and I/O-wait times of a processor may fall a little
// (proc_stat(5)).
func (c CPU) sub(before CPU) CPU {
	return CPU{max(c.Busy-before.Busy, 0), max(c.Idle-before.Idle, 0), max(c.Steal-before.Steal, 0)}
}

// BusyCPUs is how many CPUs of the host were busy on average.
func (d Delta) BusyCPUs() float64 { return share(d.All.Busy, d.Elapsed) }

// StealShare is the share of all processors' time that a hypervisor gave to others, from 0 to 1.
func (d Delta) StealShare() float64 { return share(d.All.Steal, d.All.Total()) }

// BusyShare is the share of one processor's time in which it worked, from 0 to 1; 0 for one that is not there.
func (d Delta) BusyShare(cpu int) float64 { return share(d.CPUs[cpu].Busy, d.CPUs[cpu].Total()) }

// Busiest is the largest BusyShare and its processor, -1 when there is none. One that is saturated limits the load
// although the host as a whole is idle.
func (d Delta) Busiest() (cpu int, busyShare float64) {
	cpu = -1
	for id := range d.CPUs {
		if b := d.BusyShare(id); cpu < 0 || b > busyShare || b == busyShare && id < cpu {
			cpu, busyShare = id, b
		}
	}
	return cpu, busyShare
}

func share(part, whole time.Duration) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Online lists the processors of a delta in order.
func (d Delta) Online() []int {
	var ids []int
	for id := range d.CPUs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
