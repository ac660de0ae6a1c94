package rig

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

func TestFoldIoping(t *testing.T) {
	read := spec.Workload{Name: "ping", Generator: "ioping", RW: "randread", BS: 4096, Requests: 4}
	write := read
	write.RW = "randwrite"
	out := []byte("3 900000 3333 13653333 200000 300000 400000 80000 4 31000000\n")
	for name, tt := range map[string]struct {
		load   spec.Workload
		result load.Result
		want   record.Window
	}{
		"read": {read, load.Result{Output: out}, record.Window{
			Status: record.OK, Timed: 900000,
			Metrics:  map[string]float64{record.IOPS: 3333, record.Bandwidth: 13653333, record.ClatMean: 300000},
			Evidence: record.Evidence{Depth: 1, PathRead: 4 * 4096, PathReads: 4},
		}},
		"write": {write, load.Result{Output: out}, record.Window{
			Status: record.OK, Timed: 900000,
			Metrics:  map[string]float64{record.IOPS: 3333, record.Bandwidth: 13653333, record.ClatMean: 300000},
			Evidence: record.Evidence{Depth: 1, PathWrite: 4 * 4096, PathWrites: 4, PathFlush: 4},
		}},
		"refused": {read, load.Result{Exit: 1, Stderr: "ioping: \"/dev/vdz\": No such file or directory\n"}, record.Window{
			Status: record.Failed, Reason: "ioping gave no result: its output is empty: ioping: \"/dev/vdz\": No such file or directory",
		}},
		"exit status alone": {read, load.Result{Output: out, Exit: 3}, record.Window{Status: record.Failed, Reason: "ioping ended with exit status 3"}},
		"stalled":           {read, load.Result{Stalled: "nothing moved"}, record.Window{Status: record.Stalled, Reason: "nothing moved"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got record.Window
			fold(&got, tt.result, tt.load, 0)
			got.Raw, got.Evidence.SeriesStep = nil, 0
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
