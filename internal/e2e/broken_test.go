package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/jsonout"
)

// untilMidWindow waits until some windows are stored and another one is being measured, on the host.
func (r *run) untilMidWindow(counted int) {
	r.t.Helper()
	r.untilCounted(counted)
	r.until("a window", func() bool { return len(r.processes("fio")) > 0 })
}

// Ctrl-C ends a run with everything undone, kill -9 without, and neither costs more than the window in flight. A run may
// suffer both, one after the other.
func TestInterruptedThenKilled(t *testing.T) {
	h := newHost(t)
	id, stored := interrupt(h)
	stored = kill(h, id, stored)

	r := h.emulated("--resume", id)
	r.wait(0)
	says(t, r.stderr.String(), resuming(id, stored))
	run, after := h.stored()
	if run.ID != id || run.Status != record.Complete {
		t.Errorf("run %s is %s, want %s complete", run.ID, run.Status, id)
	}
	checkKept(t, stored, after)
	checkWindows(t, after, 2, 2)
	if rounds := countedRounds(after); len(rounds) < 2 || len(rounds) > 4 { // a round that was cut does not count
		t.Errorf("counted rounds %v, want 2, and one more for each cut", rounds)
	}
}

// interrupt starts a run and ends it by Ctrl-C in the middle of a window.
func interrupt(h *host) (id string, stored []record.Window) {
	h.t.Helper()
	r := h.measure("tiny")
	r.untilMidWindow(2)
	start := time.Now()
	r.signal(syscall.SIGINT)
	r.wait(130)
	if took, limit := time.Since(start), 3*time.Second; took > limit && !busy() {
		h.t.Errorf("ended after %v, want 2 s, and at most %v", took, limit)
	}
	h.checkUndone()
	run, stored := h.stored()
	says(h.t, r.stderr.String(), "interrupted; go on with: iotax run --resume "+run.ID)
	says(h.t, r.stdout.String(), run.ID, "PARTIAL RESULT", "interrupted")
	if run.Status != record.Partial || run.Reason != "interrupted" || run.Ended.IsZero() {
		h.t.Errorf("the run is stored as %+v", run)
	}
	says(h.t, h.iotax(0, "report").stdout.String(), run.ID, "PARTIAL RESULT", "interrupted")
	says(h.t, h.iotax(0, "list").stdout.String(), run.ID, "partial")
	return run.ID, stored
}

// kill resumes the run and ends it by kill -9 in the middle of a window.
func kill(h *host, id string, before []record.Window) (stored []record.Window) {
	h.t.Helper()
	r := h.emulated("--resume") // the newest that ended early
	r.untilMidWindow(counted(before) + 2)
	r.signal(syscall.SIGKILL)
	<-r.ended
	says(h.t, r.stderr.String(), resuming(id, before))
	run, stored := h.stored()
	if run.ID != id || run.Status != record.Running {
		h.t.Errorf("run %s is stored as %s, want %s as running", run.ID, run.Status, id)
	}
	checkKept(h.t, before, stored)
	says(h.t, h.iotax(0, "report").stdout.String(), id, "PARTIAL RESULT")
	untilGone(h, "qemu") // by the kernel, which ends it with iotax

	said := h.iotax(0, "clean").stderr.String()
	says(h.t, said, "cleaning up after run "+id, "undoing: marked mark="+id, "undoing: remove path="+h.scratch, "undoing: remove path="+h.tmp)
	h.checkUndone()
	if said := h.iotax(0, "clean").stderr.String(); said != "" {
		h.t.Errorf("the second time, clean says %q", said)
	}
	return stored
}

func resuming(id string, windows []record.Window) string {
	return fmt.Sprintf("resuming run %s with %d windows stored", id, len(windows))
}

// checkKept fails the test when a window that was stored is no longer as it was.
func checkKept(t *testing.T, before, after []record.Window) {
	t.Helper()
	type place struct{ boot, round, seq int }
	now := map[place]record.Window{}
	for _, w := range after {
		now[place{w.Boot, w.Round, w.Seq}] = w
	}
	for _, w := range before {
		if diff := cmp.Diff(w, now[place{w.Boot, w.Round, w.Seq}]); diff != "" {
			t.Errorf("a stored window was changed (-before +after):\n%s", diff)
		}
	}
	if len(after) <= len(before) {
		t.Errorf("%d windows before, %d after: nothing was added", len(before), len(after))
	}
}

func untilGone(h *host, program string) {
	h.t.Helper()
	for end := time.Now().Add(patience); len(h.processes(program)) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("%s is still there: %v", program, h.processes(program))
		}
	}
}

// Ctrl-C is obeyed before the first window too.
func TestInterruptedEarly(t *testing.T) {
	for name, moment := range map[string]func(r *run){
		"filling": func(r *run) {
			r.until("volume", func() bool {
				found, _ := filepath.Glob(filepath.Join(r.scratch, "iotax-*", "*.raw"))
				return len(found) > 0
			})
		},
		"booting": func(r *run) { r.untilSaid("booting") },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			r := h.measure("tiny", "--size", "512MiB")
			moment(r)
			r.signal(syscall.SIGINT)
			r.wait(130)
			h.checkUndone()
			run, windows := h.stored()
			if run.Status != record.Partial || run.Reason != "interrupted" || len(windows) > 0 {
				t.Errorf("run %+v with %d windows", run, len(windows))
			}
		})
	}
}

// busy reports whether other programs keep this host so busy that nothing on it ends in time.
func busy() bool {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return false
	}
	load, err := strconv.ParseFloat(strings.Fields(string(text))[0], 64)
	return err == nil && load > float64(runtime.NumCPU())
}

// disturbed reports whether a number was withheld, or what reached the device is not told, for what others did on this host
// meanwhile: other tests run beside these.
func disturbed(c jsonout.Cell) bool {
	said := c.Reason + strings.Join(c.Warnings, "")
	return c.Status == record.Withheld && (strings.Contains(said, "were others'") || strings.Contains(said, "busy with others"))
}

// A guest that is lost is replaced, its window measured again, and the run ends as if nothing had been, with a warning.
func TestLostGuest(t *testing.T) {
	for name, tt := range map[string]struct {
		signal syscall.Signal
		says   string
	}{
		"killed from outside": {syscall.SIGKILL, "killed from outside"},
		"silent":              {syscall.SIGSTOP, "the guest went silent"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			file := filepath.Join(h.dir, "result.json")
			r := h.measure("tiny", "--json", file)
			r.untilMidWindow(1)
			pids := h.processes("qemu")
			if len(pids) != 1 {
				t.Fatalf("the guests are %v, want one", pids)
			}
			if err := syscall.Kill(pids[0], tt.signal); err != nil {
				t.Fatal(err)
			}
			r.wait(0)
			d := read(t, file)
			says(t, strings.Join(d.Warnings, "\n"), "the guest was started anew in round", tt.says)
			if len(d.Host.Boots) != 2 || !strings.Contains(d.Host.Boots[1].Reason, tt.says) {
				t.Errorf("boots %+v, want a second one and why", d.Host.Boots)
			}
			for _, c := range d.Cells {
				if c.Status != record.OK && !disturbed(c) {
					t.Errorf("cell %s, %s is %s: %s", c.Stack, c.Workload, c.Status, c.Reason)
				}
			}
			_, windows := h.stored()
			checkWindows(t, windows, 2, 0)
		})
	}
}
