package proc

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"go.uber.org/goleak"

	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/qmp"
)

// childEnv makes the test binary play an iotax that starts the QEMU whose argv it holds, and then stands still.
const childEnv = "PROC_TEST_CHILD"

func TestMain(m *testing.M) {
	if argv := os.Getenv(childEnv); argv != "" {
		p, err := Start(Config{Args: strings.Split(argv, "\n")})
		fmt.Println(p.PID(), err)
		select {}
	}
	goleak.VerifyTestMain(m)
}

// paused is a guest whose CPUs never run. IOTAX_QEMU names another QEMU to test with.
func paused(t *testing.T) cmdline.Config {
	t.Helper()
	path, err := exec.LookPath(cmp.Or(os.Getenv("IOTAX_QEMU"), "qemu-system-x86_64"))
	if err != nil {
		t.Skip(err)
	}
	return cmdline.Config{
		Binary: path, Accel: "tcg", Machine: "pc", CPUs: 2, Memory: 64 << 20, Paused: true,
		QMPSocket: filepath.Join(t.TempDir(), "qmp"),
	}
}

func argv(t *testing.T, c cmdline.Config) []string {
	t.Helper()
	args, err := cmdline.Args(c)
	if err != nil {
		t.Fatal(err)
	}
	return args
}

// start runs the guest and sees to it that nothing of it outlives the test.
func start(t *testing.T, c cmdline.Config, hooks Config) *Process {
	t.Helper()
	hooks.Args = argv(t, c)
	p, err := Start(hooks)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(nil); err != nil {
			t.Error(err)
		}
		checkGone(t, p.PID())
	})
	return p
}

func checkGone(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is still there: %v", pid, err)
	}
}

func monitor(t *testing.T, c cmdline.Config) *qmp.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	m, err := qmp.Dial(ctx, c.QMPSocket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func TestStop(t *testing.T) {
	tests := []struct {
		name   string
		deaf   bool // QEMU neither reads its monitor nor acts on signals that it could handle
		quit   bool // with a monitor
		signal syscall.Signal
	}{
		{"quit", false, true, 0},
		{"without a monitor", false, false, 0}, // QEMU handles SIGTERM and ends with status 0
		{"deaf", true, true, syscall.SIGKILL},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := paused(t)
			p := start(t, c, Config{})
			m := monitor(t, c)
			if p.Err() != nil {
				t.Errorf("Err of a living process: %v", p.Err())
			}
			if tt.deaf {
				if err := syscall.Kill(p.PID(), syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
			}
			if !tt.quit {
				m = nil
			}
			for range 2 {
				if err := p.Stop(m); err != nil {
					t.Fatal(err)
				}
			}
			<-p.Done()
			checkGone(t, p.PID())
			if p.Err() != nil || !p.exit.Asked || p.exit.Signal != tt.signal {
				t.Errorf("Err = %v, exit %+v; want signal %d", p.Err(), p.exit, tt.signal)
			}
		})
	}
}

func TestKilledFromOutside(t *testing.T) {
	p := start(t, paused(t), Config{})
	if err := syscall.Kill(p.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	var exit *Exit
	if err := p.Err(); !errors.As(err, &exit) || exit.Signal != syscall.SIGKILL || !strings.Contains(err.Error(), "killed from outside") {
		t.Errorf("Err = %v", err)
	}
}

func TestFailsAtOnce(t *testing.T) {
	c := paused(t)
	c.Kernel = filepath.Join(t.TempDir(), "no-kernel")
	p := start(t, c, Config{})
	<-p.Done()
	err := p.Err()
	for _, want := range []string{"failed with status 1", "no-kernel", "\ncommand: " + c.Binary + " -name"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Err = %v, want %q in it", err, want)
		}
	}
}

func TestStartFails(t *testing.T) {
	if _, err := Start(Config{}); err == nil {
		t.Error("no arguments, no error")
	}
	if _, err := Start(Config{Args: []string{filepath.Join(t.TempDir(), "qemu")}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such binary: %v", err)
	}
	full := errors.New("journal: no space left")
	var pid int
	_, err := Start(Config{Args: argv(t, paused(t)), OnStart: func(p int, _ uint64) error { pid = p; return full }})
	if !errors.Is(err, full) {
		t.Errorf("a hook that fails: %v", err)
	}
	checkGone(t, pid)
}

func TestOnStartNamesTheProcess(t *testing.T) {
	var pid int
	var ticks uint64
	p := start(t, paused(t), Config{
		Env:     []string{"IOTAX_TEST=marked"},
		OnStart: func(p int, s uint64) error { pid, ticks = p, s; return nil },
	})
	self, err := procfs.NewProc(pid)
	if err != nil {
		t.Fatal(err)
	}
	if stat, err := self.Stat(); err != nil || stat.Starttime != ticks || ticks == 0 || pid != p.PID() || ticks != p.StartTime() || stat.PGRP != pid {
		t.Errorf("hook got %d, %d; /proc has %+v, %v", pid, ticks, stat, err)
	}
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil || !bytes.Contains(env, []byte("\x00IOTAX_TEST=marked\x00")) {
		t.Errorf("environment without the mark: %v", err)
	}
}

// TestForkingThreadMayEnd starts QEMU from a goroutine whose thread ends with it: without a thread of its own for
// the fork, the kernel would take that for the end of iotax.
func TestForkingThreadMayEnd(t *testing.T) {
	c := paused(t)
	var p *Process
	var starter sync.WaitGroup
	starter.Go(func() {
		runtime.LockOSThread() // and never unlocked: Go ends the thread
		p = start(t, c, Config{})
	})
	starter.Wait()
	m := monitor(t, c)
	for range 20 {
		if s, err := m.Status(t.Context()); err != nil || s.Status != "prelaunch" {
			t.Fatalf("Status = %+v, %v", s, err)
		}
	}
	if p.Err() != nil {
		t.Error(p.Err())
	}
}

func TestDiesWithUs(t *testing.T) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+strings.Join(argv(t, paused(t)), "\n"))
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	defer child.Process.Kill()
	var pid int
	if _, err := fmt.Fscanf(out, "%d", &pid); err != nil {
		t.Fatal(err)
	}
	if !alive(pid) {
		t.Fatalf("QEMU (pid %d) did not start", pid)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); alive(pid); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatalf("QEMU (pid %d) outlived the one who started it", pid)
		}
	}
}

// alive reports whether the process runs: one that waits to be collected by init does not.
func alive(pid int) bool {
	self, err := procfs.NewProc(pid)
	if err != nil {
		return false
	}
	stat, err := self.Stat()
	return err == nil && stat.State != "Z" && stat.State != "X"
}
