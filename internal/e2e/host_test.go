package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/moby/sys/mountinfo"

	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/vm/vmtest"
)

// patience is with everything that a test waits for: far more than it takes on a busy host.
const patience = 3 * time.Minute

// markEnv marks what was started by a test, down to QEMU and fio, whatever other tests run at the same time.
const markEnv = "IOTAX_E2E"

// host is the part of this host that one test uses.
type host struct {
	t       *testing.T
	program string
	qemu    string
	dir     string // on a disk
	state   string
	tmp     string // TMPDIR: where sockets are, and nothing when all is over
	scratch string // where the volumes lie
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{t: t, program: program(t), qemu: vmtest.QEMU(t), dir: vmtest.Dir(t)}
	h.state, h.tmp = filepath.Join(h.dir, "state"), filepath.Join(h.dir, "tmp")
	h.scratch = filepath.Join(h.state, "scratch")
	if err := os.Mkdir(h.tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.checkClean)
	return h
}

// run is one iotax.
type run struct {
	*host
	patience       time.Duration
	cmd            *exec.Cmd
	stdout, stderr output
	ended          chan struct{}
}

// output may be read while it is written.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// command is an iotax with these arguments.
func (h *host) command(args ...string) *exec.Cmd {
	cmd := exec.Command(h.program, args...)
	cmd.Env = append(os.Environ(), "IOTAX_STATE="+h.state, "IOTAX_CACHE="+vmtest.CacheDir(h.t), "TMPDIR="+h.tmp, markEnv+"="+h.dir)
	return cmd
}

// start runs iotax with these arguments.
func (h *host) start(args ...string) *run {
	h.t.Helper()
	r := &run{host: h, patience: patience, cmd: h.command(args...), ended: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	r.cmd.WaitDelay = time.Second
	if err := r.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	go func() {
		_ = r.cmd.Wait() // the exit code is looked at
		close(r.ended)
	}()
	h.t.Cleanup(func() {
		select {
		case <-r.ended:
		default: // the test gave it up: other tests need what it holds
			_ = r.cmd.Process.Kill()
			<-r.ended
			_ = h.command("clean").Run()
		}
		if h.t.Failed() {
			h.t.Logf("%s\nstdout: %.3000s\nstderr: %.9000s", strings.Join(args, " "), r.stdout.String(), r.stderr.String())
		}
	})
	return r
}

// measure starts a run of an experiment of testdata.
func (h *host) measure(experiment string, args ...string) *run {
	h.t.Helper()
	return h.emulated(append([]string{"-f", "testdata/" + experiment + ".yaml"}, args...)...)
}

// emulated starts a run under software emulation, which every host has.
func (h *host) emulated(args ...string) *run {
	h.t.Helper()
	return h.start(append([]string{"run", "--accel", "tcg", "--qemu", h.qemu}, args...)...)
}

// iotax runs a command to its end, which must have this exit code.
func (h *host) iotax(code int, args ...string) *run {
	h.t.Helper()
	r := h.start(args...)
	r.wait(code)
	return r
}

// wait returns when iotax has ended, as it should with this exit code.
func (r *run) wait(code int) {
	r.t.Helper()
	select {
	case <-r.ended:
	case <-time.After(r.patience):
		r.t.Fatalf("%v does not end", r.cmd.Args[1:])
	}
	if got := r.cmd.ProcessState.ExitCode(); got != code {
		r.t.Fatalf("%v: exit code %d, want %d\n%s", r.cmd.Args[1:], got, code, r.stderr.String())
	}
}

// until waits for something to become true while iotax runs.
func (r *run) until(what string, ok func() bool) {
	r.t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		select {
		case <-r.ended:
			r.t.Fatalf("%v ended before %s", r.cmd.Args[1:], what)
		default:
		}
		if time.Now().After(end) {
			r.t.Fatalf("no %s within %v", what, patience)
		}
	}
}

func (r *run) signal(s syscall.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}

// says fails the test when the text lacks one of the phrases.
func says(t *testing.T, text string, phrases ...string) {
	t.Helper()
	for _, p := range phrases {
		if !strings.Contains(text, p) {
			t.Errorf("%q is not in:\n%s", p, text)
		}
	}
}

// processes lists what this test started and what still runs, of the given program; "" for all.
func (h *host) processes(name string) (pids []int) {
	h.t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		h.t.Fatal(err)
	}
	want := []byte(markEnv + "=" + h.dir)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err != nil || !slices.ContainsFunc(bytes.Split(env, []byte{0}), func(v []byte) bool { return bytes.Equal(v, want) }) {
			continue // ended, or not ours
		}
		if comm, err := os.ReadFile(filepath.Join("/proc", e.Name(), "comm")); err == nil && strings.HasPrefix(string(comm), name) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// checkClean fails the test when anything is left of it.
func (h *host) checkClean() {
	h.t.Helper()
	h.checkUndone()
	for _, loop := range loopsBelow(h.dir) {
		h.t.Errorf("loop device %s is left", loop)
	}
	mounts, err := mountinfo.GetMounts(mountinfo.PrefixFilter(h.dir))
	if err != nil {
		h.t.Error(err)
	}
	for _, m := range mounts {
		h.t.Errorf("%s is still mounted", m.Mountpoint)
	}
}

// checkUndone fails the test when anything is left of what iotax made: a process, a socket, a volume, a journal.
func (h *host) checkUndone() {
	h.t.Helper()
	for _, pid := range h.processes("") {
		line, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
		h.t.Errorf("process %d is left: %s", pid, bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	for _, dir := range []string{h.tmp, h.scratch, filepath.Join(h.state, "journal")} {
		entries, _ := os.ReadDir(dir) // one that was never made holds nothing
		for _, e := range entries {
			if e.Name() != "lost+found" {
				h.t.Errorf("%s is left in %s", e.Name(), dir)
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(h.dir, "*", revert.ScratchName("*"))); len(left) > 0 {
		h.t.Errorf("scratch folders are left: %v", left)
	}
}

// loopsBelow lists the loop devices on files below a folder.
func loopsBelow(dir string) (devices []string) {
	files, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil && strings.HasPrefix(string(text), dir+"/") {
			devices = append(devices, "/dev/"+strings.Split(f, "/")[3])
		}
	}
	return devices
}
