package rig

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/vm/vmtest"
)

// disguised is a QEMU that does not do what it is told, or is not let: see disguise.
func disguised(t *testing.T, d map[string]string) (binary string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{"#!/bin/sh", fmt.Sprintf("export %s='%s'", disguiseEnv, vmtest.QEMU(t))}
	for name, value := range d {
		lines = append(lines, fmt.Sprintf("export %s='%s'", name, value))
	}
	lines = append(lines, fmt.Sprintf("exec '%s' \"$@\"", self))
	binary = filepath.Join(vmtest.Dir(t), "qemu")
	if err := os.WriteFile(binary, []byte(strings.Join(lines, "\n")+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return binary
}

// TestLiesOfQEMU has a kernel that gives QEMU one context of native aio and no second one, a controller without the
// iothread of its disk, and a guest that takes its clock for 3 % quicker than it is.
func TestLiesOfQEMU(t *testing.T) {
	kernel := refusing(t, 1)
	r := lyingRig(t, disguised(t, map[string]string{refuseEnv: kernel, clockEnv: "1.03", stripEnv: "ctl-virtio-scsi0-iothread"}),
		spec.Stack{Name: "honest", Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "threads"},
		spec.Stack{Name: "native", Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "native", IOThread: true},
		spec.Stack{Name: "shared", Format: "raw", Bus: "virtio-scsi", Cache: "none", AIO: "threads", IOThread: true},
	)
	l := trial{session: boot(t, r), exp: r.Plan.Experiment}
	for _, stack := range []string{spec.Host, "native", "shared"} {
		l.window(t, stack, reads)
	}
	l.withheld(t, "native", reads, "falling back to thread pool")
	l.withheld(t, "shared", reads, "an iothread was asked for, but none serves this disk")
	if skew := l.clockOf(t, "honest"); skew < -0.035 || skew > -0.025 {
		t.Errorf("the guest's clock is wrong by %v, want -0.029", skew)
	}
	c := l.stands(t, "honest", reads)
	if all := strings.Join(c.Warnings, "; "); !strings.Contains(all, "% slower than the host's") {
		t.Errorf("the guest's clock is 3 %% slow, and the footnotes are %q", all)
	}
}

// clockOf measures windows of a guest's disk, and of the host as many, until its clock could be compared with the host's,
// and returns the difference.
func (l *trial) clockOf(t *testing.T, stack string) float64 {
	t.Helper()
	for range 6 {
		l.window(t, spec.Host, reads)
		if skew := l.window(t, stack, reads).Evidence.ClockSkew; skew != nil {
			return *skew
		}
	}
	t.Skip("this host is so busy that the guest's clock cannot be read")
	return 0
}

// TestLieOfTheClock has a guest that takes its clock for a tenth quicker than it is.
func TestLieOfTheClock(t *testing.T) {
	r := lyingRig(t, disguised(t, map[string]string{clockEnv: "1.1"}),
		spec.Stack{Name: "late", Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "threads"})
	l := trial{session: boot(t, r), exp: r.Plan.Experiment}
	if skew := l.clockOf(t, "late"); skew < -0.1 || skew > -0.08 {
		t.Errorf("the guest's clock is wrong by %v, want -0.091", skew)
	}
	l.withheld(t, "late", reads, "% slower than the host's")
	l.stands(t, spec.Host, reads)
}

// TestRefusedAIO has a kernel that gives QEMU neither native aio nor io_uring.
func TestRefusedAIO(t *testing.T) {
	r := lyingRig(t, disguised(t, map[string]string{refuseEnv: refusing(t, 0)}),
		spec.Stack{Name: "native", Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "native"},
		spec.Stack{Name: "io_uring", Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "io_uring"},
		spec.Stack{Name: "threads", Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "threads"},
	)
	s := boot(t, r)
	for _, is := range s.stacks {
		refused := is.Name == "native" || is.Name == "io_uring"
		gaveUp := is.Unavailable != "" || len(is.Mismatch) > 0 // since QEMU 9.2 it tries at the first request
		if refused != gaveUp {
			t.Errorf("%s: unavailable %q, mismatch %q", is.Name, is.Unavailable, is.Mismatch)
		}
		t.Logf("%s: unavailable %q, mismatch %q", is.Name, is.Unavailable, is.Mismatch)
	}
	l := &trial{session: s, exp: r.Plan.Experiment}
	for _, stack := range []string{spec.Host, "threads"} {
		l.window(t, stack, reads)
		l.stands(t, stack, reads)
	}
	for _, stack := range []string{"native", "io_uring"} {
		if c := l.cell(t, stack, reads); c.Status == record.OK || !strings.Contains(c.Reason, "aio") && !strings.Contains(c.Reason, "io_uring") && !strings.Contains(c.Reason, "AIO") {
			t.Errorf("%s is %s: %q", stack, c.Status, c.Reason)
		}
	}
}
