package meter

import (
	"encoding/binary"
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The software events that every kernel with perf counts, for want of a processor that does.
var (
	taskClock = event{unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK}
	noEvent   = event{unix.PERF_TYPE_HARDWARE, 1 << 40}
)

// TestCounter counts the task clock of a process: nanoseconds on a processor.
func TestCounter(t *testing.T) {
	cmd := burn(t)
	p := &process{Process: Process{PID: cmd.Process.Pid}, threads: map[int]*thread{}}
	p.find()
	defer p.close()
	c := &counter{event: taskClock}
	if c = c.add(p); c == nil {
		t.Skip("this kernel lets nobody count events")
	}
	defer c.close()
	before := p.cpu(t)
	first := c.read()
	used(t, p.PID, before+200*time.Millisecond)
	second := c.read()
	took := p.cpu(t) - before
	if first == nil || second == nil {
		t.Fatalf("%v, %v", first, second)
	}
	if ns := time.Duration(*second - *first); ns < 150*time.Millisecond || ns > took+50*time.Millisecond {
		t.Errorf("counted %v, but it ran for %v", ns, took)
	}
}

func (p *process) cpu(t *testing.T) time.Duration {
	t.Helper()
	cpu, err := processCPU(p.PID)
	if err != nil {
		t.Fatal(err)
	}
	return cpu
}

// TestNoCounter: an event that cannot be counted is absent, whatever is done with it.
func TestNoCounter(t *testing.T) {
	p := &process{Process: Process{PID: os.Getpid()}, threads: map[int]*thread{}}
	p.find()
	defer p.close()
	c := &counter{event: noEvent}
	if err := c.open(os.Getpid()); err == nil {
		t.Error("an event that no processor has was opened")
	}
	if c = c.add(p); c != nil {
		t.Errorf("and is counted: %+v", c)
	}
	c = c.add(p)
	if n := c.read(); n != nil {
		t.Errorf("and has the count %v", *n)
	}
	c.close()
	empty := &counter{event: taskClock}
	if n := empty.read(); n != nil {
		t.Errorf("of no thread: %v", *n)
	}
	gone := &process{Process: Process{PID: noPID}, threads: map[int]*thread{noPID: {}}}
	if c := empty.add(gone); c == nil {
		t.Error("a thread that has ended makes the others uncounted")
	}
}

// TestCyclesHere opens what this machine has: a count, or an error of the kernel, and nothing in between.
func TestCyclesHere(t *testing.T) {
	for name, e := range map[string]event{"cycles": cycles, "task clock": taskClock} {
		c := &counter{event: e}
		err := c.open(os.Getpid())
		n := c.read()
		c.close()
		if (err == nil) != (n != nil) {
			t.Errorf("%s: %v, and the count %v", name, err, n)
		}
		t.Logf("%s: %v", name, err)
	}
	if e, err := kvmExits(); (err == nil) != (e.config > 0) {
		t.Errorf("exits to KVM: %+v, %v", e, err)
	} else if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrPermission) {
		t.Errorf("exits to KVM: %v", err)
	}
}

func TestScaled(t *testing.T) {
	for _, tt := range []struct {
		value, enabled, running uint64
		want                    float64
		ok                      bool
	}{{100, 10, 10, 100, true}, {100, 40, 10, 400, true}, {0, 0, 0, 0, true}, {0, 10, 0, 0, false}} {
		var raw [24]byte
		for i, v := range []uint64{tt.value, tt.enabled, tt.running} {
			binary.NativeEndian.PutUint64(raw[8*i:], v)
		}
		if got, ok := scaled(raw); got != tt.want || ok != tt.ok {
			t.Errorf("%+v: %v, %v", tt, got, ok)
		}
	}
}
