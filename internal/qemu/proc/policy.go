package proc

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Policy is on which host CPUs the threads of a guest run.
type Policy struct {
	VCPUs  []int // host CPU of each vCPU
	Others []int // host CPUs that all other threads share
}

// Decide lays out a guest over the host CPUs that it may use. Where there are more of these than vCPUs, each vCPU
// has one to itself and the other threads share the rest. Where there are not, vCPUs take the CPUs in turn, and
// the other threads go to the last one: a vCPU beside them loses some time to them, but every other vCPU, the
// first above all, runs undisturbed, and every boot is disturbed in the same place. Tried under emulation on two
// CPUs, this cut the scatter of a guest with one vCPU to a third; with two vCPUs it lowered that of reads only.
// Siblings of one core are not told apart.
func Decide(allowed []int, vcpus int) Policy {
	allowed = slices.Sorted(slices.Values(allowed))
	if len(allowed) == 0 {
		return Policy{}
	}
	p := Policy{Others: allowed[min(vcpus, len(allowed)-1):]}
	for i := range vcpus {
		p.VCPUs = append(p.VCPUs, allowed[i%len(allowed)])
	}
	return p
}

// Allowed returns the host CPUs that this process may use, in order. Of CPUs beyond the first 1024 it names none:
// unix.CPUSet, with which threads are pinned, has no more.
func Allowed() ([]int, error) {
	// The kernel refuses a mask shorter than its own (EINVAL), which on a host with room for more than 1024 CPUs is
	// longer than a unix.CPUSet (sched_getaffinity(2)).
	var mask [16]unix.CPUSet
	n, _, errno := unix.Syscall(unix.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask)))
	if errno != 0 || n == 0 {
		return nil, fmt.Errorf("asking for the CPUs that may be used: %w", errno)
	}
	return list(&mask[0]), nil
}

// Pin puts the threads where the policy wants them. Threads that these make later start where their maker is. A
// thread that has ended meanwhile is no fault; io_uring's kernel threads are passed over, since the kernel does
// not let them be moved (PF_NO_SETAFFINITY).
func Pin(threads []Thread, p Policy) error {
	var faults []error
	for _, t := range threads {
		cpus := p.Others
		if t.Role == VCPU {
			if t.Index >= len(p.VCPUs) {
				faults = append(faults, fmt.Errorf("the policy has no host CPU for vCPU %d", t.Index))
				continue
			}
			cpus = p.VCPUs[t.Index : t.Index+1]
		}
		if len(cpus) == 0 || t.kernelOwned() {
			continue
		}
		set := cpuSet(cpus)
		if err := unix.SchedSetaffinity(t.TID, &set); err != nil && !errors.Is(err, unix.ESRCH) {
			faults = append(faults, fmt.Errorf("pinning thread %d (%s, %s) to CPUs %v: %w", t.TID, t.Role, t.Name, cpus, err))
		}
	}
	return errors.Join(faults...)
}

func cpuSet(cpus []int) (set unix.CPUSet) {
	for _, c := range cpus {
		set.Set(c)
	}
	return set
}

func list(set *unix.CPUSet) (cpus []int) {
	for c := range len(set) * 64 {
		if set.IsSet(c) {
			cpus = append(cpus, c)
		}
	}
	return cpus
}
