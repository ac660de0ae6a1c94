package reporttest

import (
	"math"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// Bill is a ladder with a step of each kind: worth something, worth nothing that can be told, harmful, not to be had,
// and measured apart.
func Bill() analyse.Figure {
	b := &analyse.LadderBill{
		Base: "stock", Top: "virtio-blk", Workloads: []string{"randread-4k-q32", "randwrite-4k-q32"},
		LeftOut: []string{"stock under read-256k-q32 is withheld: 97 % of these reads came from the host's RAM: this is not the disk"},
		Total:   &stat.Estimate{Value: 1.58, Low: 1.46, High: 1.71}, Interaction: &stat.Estimate{Value: 0.93, Low: 0.86, High: 1.004},
	}
	worth := func(stack string, v, half float64, across ...string) analyse.Worth {
		return analyse.Worth{Stack: stack, Factor: &stat.Estimate{Value: v, Low: v / (1 + half), High: v * (1 + half)}, Across: across}
	}
	b.Steps = []analyse.LadderStep{
		{Title: "an LVM volume in place of the qcow2 file", Alone: worth("lvm", 1.25, .04), Together: worth("lvm", 1.25, .04), Without: worth("all-but-lvm", 1.19, .05)},
		{Title: "4 vCPUs", Alone: worth("cpus", 1.02, .03), Together: worth("lvm-cpus", 0.97, .02), Without: worth("all-but-cpus", 1.01, .03)},
		{
			Title: "huge pages of 1 GiB", Alone: analyse.Worth{Stack: "huge", Reason: "there are no huge pages of 1 GiB", Mend: "echo 2 > /sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"},
			Together: analyse.Worth{Stack: "lvm-cpus-huge", Reason: "there are no huge pages of 1 GiB", Mend: "echo 2 > /sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"},
		},
		{Title: "an iothread, cache none", Alone: worth("iothread", 1.3, .04), Together: worth("lvm-cpus-iothread", 1.22, .04, "huge pages of 1 GiB"), Without: worth("all-but-iothread", 1.24, .05)},
		{Title: "cache writeback", Alone: worth("writeback", 1.4, .06)},
		{Title: "virtio-blk in place of virtio-scsi", Alone: worth("blk", 1.05, .03), Together: worth("virtio-blk", 1.58/(1.25*0.97*1.22), .03), Without: worth("lvm-cpus-iothread", 1.58/(1.25*0.97*1.22), .03)},
	}
	for i := range b.Steps {
		if f := b.Steps[i].Together.Factor; f != nil {
			share := math.Log(f.Value) / math.Log(b.Total.Value)
			b.Steps[i].Share = &share
		}
	}
	return analyse.Figure{Title: "What each step is worth: writes", Kind: spec.Ladder, Ladder: b}
}
