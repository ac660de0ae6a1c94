package meter

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBetween(t *testing.T) {
	start := time.Now()
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	f := func(v float64) *float64 { return &v }
	s := Samples{
		{at: at(0), use: map[string]Use{"vcpu": {CPU: 10}}, process: 10, seen: 10},
		{at: at(100), use: map[string]Use{"vcpu": {CPU: 110, Waited: 50, Voluntary: 4, Involuntary: 2}}, process: 120, seen: 110, cycles: f(1000)},
		{at: at(200), use: map[string]Use{"vcpu": {CPU: 310, Waited: 50, Voluntary: 8, Involuntary: 2}, "worker": {CPU: 40}}, process: 400, seen: 350, cycles: f(3000), exits: f(5)},
	}
	got, ok := s.Between(at(50), at(150))
	want := Span{ByRole: map[string]Use{"vcpu": {CPU: 150, Waited: 25, Voluntary: 4, Involuntary: 1}, "worker": {CPU: 20}}, Process: 195}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("%v %s", ok, diff)
	}
	if whole, ok := s.Whole(); !ok || whole.Process != 390 || whole.ByRole["vcpu"].CPU != 300 {
		t.Errorf("the whole: %+v, %v", whole, ok)
	}
	if whole, ok := (Samples{}).Whole(); ok {
		t.Errorf("the whole of nothing: %+v", whole)
	}
	got, ok = s.Between(at(100), at(200))
	want = Span{ByRole: map[string]Use{"vcpu": {CPU: 200, Voluntary: 4}, "worker": {CPU: 40}}, Process: 280, Cycles: f(2000)}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("%v %s", ok, diff)
	}
	for _, ends := range [][2]time.Time{{at(-1), at(100)}, {at(0), at(201)}, {at(100), at(100)}, {at(150), at(100)}} {
		if got, ok := s.Between(ends[0], ends[1]); ok {
			t.Errorf("from %v to %v: %+v", ends[0], ends[1], got)
		}
	}
	s[2].seen = 0 // the process took time, and no thread of it did: this kernel does not count
	if got, ok := s.Between(at(0), at(200)); ok {
		t.Errorf("threads without counters: %+v", got)
	}
}

// TestWatchProcessAddedLater watches nothing at first, and then a process that computes.
func TestWatchProcessAddedLater(t *testing.T) {
	w := Start(5*time.Millisecond, true)
	cmd := burn(t)
	w.Add(Process{PID: cmd.Process.Pid, Rest: "load"})
	used(t, cmd.Process.Pid, 100*time.Millisecond)
	s := w.Stop()
	span, ok := s.Between(s[0].at, s[len(s)-1].at)
	load := span.ByRole["load"]
	if !ok || load.CPU < 90*time.Millisecond || span.Process < load.CPU*95/100 || load.CPU < span.Process*95/100 {
		t.Errorf("%+v, %v", span, ok)
	}
}
