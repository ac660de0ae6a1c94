package analyse

import (
	"testing"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

func unwritten(share float64) change {
	return every(func(e *record.Evidence) { e.Unwritten = &share })
}

func user(v float64) change {
	return every(func(e *record.Evidence) { e.FioCPU, e.FioUser = v, v })
}

// volume tells of the volume of "fast".
func volume(v record.Volume) func(*synthetic) {
	return func(s *synthetic) { s.stack("fast").Volume = &v }
}

func compressible(share, ratio float64) func(*synthetic) {
	return func(s *synthetic) {
		s.exp.Compressible = share
		volume(record.Volume{CompressRatio: &ratio})(s)
	}
}

// TestVolumeRules trips the rules of what a volume holds, and nearly.
func TestVolumeRules(t *testing.T) {
	const quarter = "25 % of this volume was never written, or is zeros that are stored nowhere: "
	runRules(t, []ruleCase{
		{name: "whole", change: unwritten(0), status: record.OK},
		{name: "reads of what is not there", change: unwritten(0.25), status: record.Withheld, reason: quarter + "such reads meet no disk"},
		{
			name: "writes to what is not there", workload: "rw1", change: unwritten(0.25), status: record.Withheld,
			reason: quarter + "such writes have to find a place first",
		},
		{
			name: "both", change: unwritten(0.25), more: func(s *synthetic) { s.exp.Workloads[0].RW = "randrw" }, status: record.Withheld,
			reason: quarter + "such reads meet no disk, and such writes have to find a place first",
		},
		{name: "given back during the run", change: func(i int, w *record.Window) {
			if i == 5 {
				unwritten(0.25)(i, w)
			}
		}, status: record.Withheld, reason: quarter + "such reads meet no disk"},
		{
			name: "given back after the last window", more: volume(record.Volume{Unwritten: new(0.25)}), status: record.Withheld,
			reason: quarter + "such reads meet no disk",
		},
		{
			name: "a little", change: unwritten(0.004), status: record.OK,
			warning: "0.40 % of this volume was never written, or is zeros that are stored nowhere: such reads meet no disk",
		},
		{
			name: "it tells more than that they came from RAM", change: func(i int, w *record.Window) {
				unwritten(1)(i, w)
				ram(1)(i, w)
			}, status: record.Withheld,
			reason: "100 % of this volume was never written, or is zeros that are stored nowhere: such reads meet no disk",
		},
		{
			name: "of the host", more: func(s *synthetic) { s.change(spec.Host, "rr32", unwritten(1)) }, status: record.Withheld,
			reason: "the host baseline is withheld: 100 % of this volume was never written, or is zeros that are stored nowhere: such reads meet no disk",
		},
		{
			name: "data that compresses", more: compressible(0, 5), status: record.Withheld,
			reason: "the storage keeps the data of this volume in 20 % of their size, where 100 % were meant: the disk has less to do than the load asks for",
		},
		{
			name: "data that compresses a little", more: compressible(0, 1.1), status: record.OK,
			warning: "the storage keeps the data of this volume in 91 % of their size, where 100 % were meant: the disk has less to do than the load asks for",
		},
		{name: "data that are to compress", more: compressible(0.5, 2), status: record.OK},
		{name: "data that compress less than they could", more: compressible(0.5, 1), status: record.OK},
		{
			name: "data that compress more than they should", more: compressible(0.5, 4), status: record.Withheld,
			reason: "the storage keeps the data of this volume in 25 % of their size, where 50 % were meant: the disk has less to do than the load asks for",
		},
		// The device reads half of the bytes, since they take no more there: nothing came from RAM.
		{name: "compressed reads are not from RAM", change: ram(0.5), more: compressible(0.5, 2), status: record.OK},
		{
			name: "compressed reads from RAM", change: ram(0.8), more: compressible(0.5, 2), status: record.Withheld,
			reason: "60 % of these reads came from the host's RAM: this is not the disk",
		},
	})
}

// TestGeneratorRules trips the rules of a load generator that is its own bottleneck, and nearly.
// onHostBy makes a stack one whose load runs on the host, made by a program.
func onHostBy(daemon string) func(*synthetic) {
	return func(s *synthetic) { s.exp.Stacks[0].Bus, s.exp.Stacks[0].Daemon = "host", daemon }
}

func TestGeneratorRules(t *testing.T) {
	jobs := func(numjobs, cpus int) func(*synthetic) {
		return func(s *synthetic) {
			s.exp.Workloads[0].NumJobs, s.run.Host.GuestCPUs = numjobs, cpus
			s.change("", "rr32", depth(float64(32*numjobs)))
		}
	}
	const busy = " of the time: it may be the limit, not the disk, and the loss of the guests larger than it looks"
	runRules(t, []ruleCase{
		{
			name: "its own work", stack: spec.Host, change: user(0.95), status: record.Withheld,
			reason: "fio was busy making the load for 95 % of the time: this is its own speed, not the disk's",
		},
		{
			name: "of a guest's baseline", more: func(s *synthetic) { s.change(spec.Host, "rr32", user(0.95)) }, status: record.Withheld,
			reason: "the host baseline is withheld: fio was busy making the load for 95 % of the time: this is its own speed, not the disk's",
		},
		{
			name: "its own work, on a host that is busy with others", stack: spec.Host, change: every(func(e *record.Evidence) {
				e.FioCPU, e.FioUser = 0.3, 0.29
				e.Price = &record.Price{Span: 1e9, Threads: []record.ThreadUse{{Role: record.Load, CPU: 3e8, Waited: 6.5e8}}}
			}), status: record.Withheld,
			reason: "fio was busy making the load for 92 % of the time: this is its own speed, not the disk's",
		},
		{name: "in a guest", change: user(0.95), status: record.OK},
		{name: "QEMU's own", change: user(0.95), more: onHostBy("qemu-img"), status: record.OK},
		{name: "on the host's file", change: cpu(0.95), more: onHostBy(""), status: record.OK, warning: "fio was busy for 95 %" + busy},
		{name: "busy in the kernel", stack: spec.Host, change: cpu(0.95), status: record.OK, warning: "fio was busy for 95 %" + busy},
		{name: "eight jobs on two CPUs", stack: spec.Host, change: cpu(1.5), more: jobs(8, 2), status: record.OK},
		{name: "eight busy jobs on two CPUs", stack: spec.Host, change: cpu(1.9), more: jobs(8, 2), status: record.OK, warning: "fio was busy for 95 %" + busy},
		{name: "two jobs, CPUs not known", stack: spec.Host, change: cpu(1.5), more: jobs(2, 0), status: record.OK},
	})
}
