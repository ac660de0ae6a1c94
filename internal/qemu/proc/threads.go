package proc

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/iotax/iotax/internal/qemu/qmp"
)

// Role is what a thread of QEMU does.
type Role string

// The roles of QEMU's threads.
const (
	Main     Role = "main"     // QEMU's main loop; serves disks without an iothread
	VCPU     Role = "vcpu"     // runs guest code
	IOThread Role = "iothread" // serves the disks that were given to it
	Worker   Role = "worker"   // everything else: the pool of aio=threads, io_uring's helpers, housekeeping
)

// Thread is one thread of a QEMU.
type Thread struct {
	TID   int
	Role  Role
	Index int    // number of the vCPU
	Name  string // id of the iothread, else the name that the kernel knows
}

// Monitor is the part of QMP that tells threads apart.
type Monitor interface {
	CPUs(context.Context) ([]qmp.CPU, error)
	IOThreads(context.Context) ([]qmp.IOThread, error)
}

// Threads returns the threads of the QEMU at this moment, in the order of their ids. Workers come and go.
func Threads(ctx context.Context, pid int, m Monitor) ([]Thread, error) {
	cpus, err := m.CPUs(ctx)
	if err != nil {
		return nil, err
	}
	iothreads, err := m.IOThreads(ctx)
	if err != nil {
		return nil, err
	}
	tasks, err := procfs.AllThreads(pid)
	if err != nil {
		return nil, fmt.Errorf("threads of QEMU (pid %d): %w", pid, err)
	}
	names := map[int]string{}
	for _, task := range tasks {
		if name, err := task.Comm(); err == nil { // else it has just ended
			names[task.PID] = name
		}
	}
	return roles(pid, names, cpus, iothreads), nil
}

// roles gives every thread of names (thread id -> name) its role.
func roles(pid int, names map[int]string, cpus []qmp.CPU, iothreads []qmp.IOThread) []Thread {
	known := map[int]Thread{pid: {Role: Main}}
	for _, c := range cpus {
		known[c.ThreadID] = Thread{Role: VCPU, Index: c.Index}
	}
	for _, t := range iothreads {
		known[t.ThreadID] = Thread{Role: IOThread, Name: t.ID}
	}
	var threads []Thread
	for tid, name := range names {
		t, ok := known[tid]
		if !ok {
			t.Role = Worker
		}
		t.TID = tid
		if t.Name == "" {
			t.Name = name
		}
		threads = append(threads, t)
	}
	slices.SortFunc(threads, func(a, b Thread) int { return a.TID - b.TID })
	return threads
}

// kernelOwned reports whether the thread is one that the kernel made for io_uring and whose CPUs only it sets.
func (t Thread) kernelOwned() bool {
	return strings.HasPrefix(t.Name, "iou-wrk-") || strings.HasPrefix(t.Name, "iou-sqp-")
}
