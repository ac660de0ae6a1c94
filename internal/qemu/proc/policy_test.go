package proc

import (
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/qemu/qmp"
)

func TestDecide(t *testing.T) {
	tests := []struct {
		name    string
		allowed []int
		vcpus   int
		want    Policy
	}{
		{"the reference machine", []int{0, 1}, 2, Policy{VCPUs: []int{0, 1}, Others: []int{1}}},
		{"one vCPU on two", []int{0, 1}, 1, Policy{VCPUs: []int{0}, Others: []int{1}}},
		{"more vCPUs than CPUs", []int{0, 1}, 4, Policy{VCPUs: []int{0, 1, 0, 1}, Others: []int{1}}},
		{"as many", []int{0, 1, 2, 3}, 4, Policy{VCPUs: []int{0, 1, 2, 3}, Others: []int{3}}},
		{"plenty", []int{0, 1, 2, 3, 4}, 2, Policy{VCPUs: []int{0, 1}, Others: []int{2, 3, 4}}},
		{"a cpuset, unsorted", []int{9, 4, 7}, 2, Policy{VCPUs: []int{4, 7}, Others: []int{9}}},
		{"one CPU", []int{3}, 2, Policy{VCPUs: []int{3, 3}, Others: []int{3}}},
		{"unknown", nil, 2, Policy{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Decide(tt.allowed, tt.vcpus)); diff != "" {
				t.Errorf("Decide(%v, %d) (-want +got):\n%s", tt.allowed, tt.vcpus, diff)
			}
		})
	}
}

func TestRoles(t *testing.T) {
	names := map[int]string{10: "qemu-system-x86", 11: "call_rcu", 12: "IO vd0-iothread", 13: "CPU 0/TCG", 14: "CPU 1/TCG", 15: "worker", 16: "iou-wrk-12"}
	cpus := []qmp.CPU{{Index: 0, ThreadID: 13}, {Index: 1, ThreadID: 14}, {Index: 2, ThreadID: 99}} // the last has ended
	got := roles(10, names, cpus, []qmp.IOThread{{ID: "vd0-iothread", ThreadID: 12}})
	want := []Thread{
		{TID: 10, Role: Main, Name: "qemu-system-x86"},
		{TID: 11, Role: Worker, Name: "call_rcu"},
		{TID: 12, Role: IOThread, Name: "vd0-iothread"},
		{TID: 13, Role: VCPU, Index: 0, Name: "CPU 0/TCG"},
		{TID: 14, Role: VCPU, Index: 1, Name: "CPU 1/TCG"},
		{TID: 15, Role: Worker, Name: "worker"},
		{TID: 16, Role: Worker, Name: "iou-wrk-12"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("roles (-want +got):\n%s", diff)
	}
}

func TestPinFaults(t *testing.T) {
	p := Policy{VCPUs: []int{0}, Others: []int{0}}
	if err := Pin([]Thread{{TID: 1 << 30, Role: Worker}, {TID: 1, Role: Worker, Name: "iou-wrk-1"}}, p); err != nil {
		t.Errorf("a thread that has ended, and one of the kernel's: %v", err)
	}
	if err := Pin([]Thread{{TID: 1 << 30, Role: VCPU, Index: 1}}, p); err == nil {
		t.Error("a vCPU without a host CPU was accepted")
	}
	if err := Pin([]Thread{{TID: 1 << 30, Role: VCPU}}, Policy{}); err == nil {
		t.Error("an empty policy was accepted for a vCPU")
	}
}

func TestAllowedIsWhatThisThreadMayUse(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Skip(err) // a host with room for more than 1024 CPUs
	}
	got, err := Allowed()
	if diff := cmp.Diff(list(&set), got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}
