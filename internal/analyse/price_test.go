package analyse

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

func TestPrices(t *testing.T) {
	s := newRun()
	s.measured(6)
	s.change("fast", "rr32", func(i int, w *record.Window) {
		priced(threads(map[string]int64{record.VCPU: 600 + int64(i), record.IOThread: 300, record.Worker: 0}))(i, w)
		busy, cycles, exits := 0.5, 4e7, 2e4
		w.Evidence.GuestCPU, w.Evidence.Price.Cycles = &busy, &cycles
		if i > 0 {
			w.Evidence.Price.Exits = &exits
		}
	})
	s.change(spec.Host, "rr32", priced(threads(map[string]int64{record.Load: 200})))
	s.change("prox", "rr32", priced(threads(map[string]int64{record.VCPU: 600})))
	s.change("prox", "rr32", bad(6, record.Failed, "EIO"))
	s.change("near", "rr32", priced(&record.Price{Span: 1e9}))
	tb := newTable(s.run, s.exp, s.windows)
	tb.judgeAll(true)
	tb.estimate()
	prices := tb.prices()
	if len(prices) != 2 || prices[0].Stack != spec.Host || prices[1].Stack != "fast" {
		t.Fatalf("%+v", prices)
	}
	got := prices[1]
	about := func(name string, e *stat.Estimate, want float64) {
		t.Helper()
		if e == nil || e.Value < want*0.995 || e.Value > want*1.005 || !e.Known() || e.Low < 0 || !e.Contains(want) {
			t.Errorf("%s: %+v, want about %v", name, e, want)
		}
	}
	vcpu, loop, worker := got.ByRole[record.VCPU], got.ByRole[record.IOThread], got.ByRole[record.Worker]
	about("CPU", &got.CPU, 90_250)
	about("vCPU", &vcpu, 60_250)
	about("iothread", &loop, 30_000)
	about("worker", &worker, 0)
	about("voluntary", &got.Voluntary, 1.2)
	about("involuntary", &got.Involuntary, 0.006)
	about("guest CPU", got.GuestCPU, 50_000)
	about("cycles", got.Cycles, 4000)
	about("exits", got.Exits, 2)
	about("cores", &got.Cores, 0.9025)
	if diff := cmp.Diff(s.analyse().cell(t, "fast", "rr32").Metrics[record.IOPS], got.IOPS); diff != "" || got.Held {
		t.Errorf("IOPS: %s", diff)
	}
	if _, has := got.ByRole[record.MainLoop]; has || len(got.ByRole) != 3 {
		t.Errorf("roles %+v", got.ByRole)
	}
	host := prices[0]
	if host.GuestCPU != nil || host.Cycles != nil || host.Exits != nil || host.Workload != "rr32" {
		t.Errorf("%+v", host)
	}
	about("host", &host.CPU, 20_000)
}

func TestDerivedOfRequests(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	mixed, read, sync := spec.Workload{RW: "randrw"}, spec.Workload{RW: "read"}, spec.Workload{RW: "write", FDataSync: 1}
	full := record.Evidence{
		DeviceReads: n(50), PathReads: 100, DeviceWrites: n(300), PathWrites: 100, DeviceFlush: n(30), PathFlush: 10,
		Price: threads(map[string]int64{record.VCPU: 600, record.MainLoop: 300}),
	}
	for _, tt := range []struct {
		metric string
		load   spec.Workload
		e      record.Evidence
		want   float64
		ok     bool
	}{
		{record.DeviceRequestRatio, read, full, 0.5, true},
		{record.DeviceRequestRatio, sync, full, 3, true},
		{record.DeviceRequestRatio, mixed, full, 1.75, true},
		{record.DeviceRequestRatio, mixed, record.Evidence{DeviceReads: n(1), PathReads: 1}, 0, false},
		{record.DeviceRequestRatio, read, record.Evidence{DeviceReads: n(1)}, 0, false},
		{record.FlushRatio, sync, full, 3, true},
		{record.FlushRatio, mixed, full, 0, false},
		{record.FlushRatio, spec.Workload{RW: "write", Generator: "ioping"}, full, 3, true},
		{record.FlushRatio, sync, record.Evidence{PathFlush: 1}, 0, false},
		{record.HostCPUPerIO, read, full, 90_000, true},
		{record.HostCPUPerIO, read, record.Evidence{}, 0, false},
		{record.HostCPUPerIO, read, record.Evidence{Price: &record.Price{Span: 1}}, 0, false},
	} {
		if got, ok := ofEvidence(tt.metric, tt.e, tt.load, 0); got != tt.want || ok != tt.ok {
			t.Errorf("%s of %s: %v, %v; want %v, %v", tt.metric, tt.load.RW, got, ok, tt.want, tt.ok)
		}
	}
}
