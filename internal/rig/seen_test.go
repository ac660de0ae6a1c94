package rig

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/meter"
	"github.com/iotax/iotax/internal/record"
)

func ptr[T any](v T) *T { return &v }

func TestSeen(t *testing.T) {
	var w record.Window
	seenInGuest(&w, load.Result{
		Elapsed: 2 * time.Second, Busy: 3 * time.Second,
		Before: load.Stat{Reads: 1, ReadBytes: 4096, Writes: 4, Flushes: 2}, After: load.Stat{Reads: 3, ReadBytes: 12288, Writes: 9, Flushes: 5},
	})
	seenAtDevice(&w, meter.Delta{Disk: meter.Disk{Reads: 2, ReadBytes: 8192, Writes: 1, WriteBytes: 512, Flushes: ptr[int64](7)}})
	seenOnHost(&w, meter.Delta{
		Elapsed: 2 * time.Second, All: meter.CPU{Busy: time.Second, Idle: 2 * time.Second, Steal: time.Second},
		ARC: &meter.ARC{Hits: 30, Misses: 10},
	})
	want := record.Evidence{
		PathRead: 8192, PathFlush: 3, PathReads: 2, PathWrites: 5, GuestCPU: ptr(1.5),
		DeviceReads: ptr[int64](2), DeviceWrites: ptr[int64](1),
		DeviceRead: ptr[int64](8192), DeviceWrite: ptr[int64](512), DeviceFlush: ptr[int64](7),
		HostCPU: ptr(0.5), Steal: 0.25, ARCHits: ptr[int64](30), ARCMisses: ptr[int64](10),
	}
	if diff := cmp.Diff(want, w.Evidence); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w = record.Window{}
	seenInGuest(&w, load.Result{After: load.Stat{Flushes: -1}})
	seenOnHost(&w, meter.Delta{Elapsed: time.Second})
	if e := w.Evidence; e.GuestCPU != nil || e.ARCHits != nil || e.ARCMisses != nil || e.PathFlush != 0 {
		t.Errorf("what was not counted has a number: %+v", e)
	}
}
