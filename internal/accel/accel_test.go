package accel

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/qemu/caps"
	"github.com/iotax/iotax/internal/vm/vmtest"
)

// fakeHost has a device that opens and, in the place of QEMU, a script that counts how often it is started.
type fakeHost struct {
	Request
	t *testing.T
}

func newFakeHost(t *testing.T, script string) fakeHost {
	dir := t.TempDir()
	h := fakeHost{Request{
		Want: "auto", Binary: filepath.Join(dir, "qemu"), Caps: caps.Caps{Accelerators: []string{KVM, TCG}},
		Image: &guest.Image{Kernel: "/vmlinux", Initrd: "/initrd"}, Dir: dir,
		Cache: filepath.Join(dir, "cache", "accel.json"), Device: filepath.Join(dir, "kvm"),
	}, t}
	h.write(h.Device, "")
	h.write(h.Binary, "#!/bin/sh\necho started >>'"+h.count()+"'\n"+script+"\n")
	return h
}

func (h fakeHost) count() string { return filepath.Join(h.Dir, "count") }

func (h fakeHost) write(path, text string) {
	h.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		h.t.Fatal(err)
	}
}

// boots is how often QEMU was started.
func (h fakeHost) boots() int {
	text, _ := os.ReadFile(h.count())
	return strings.Count(string(text), "\n")
}

func (h fakeHost) choose() Choice {
	h.t.Helper()
	c, err := Choose(h.t.Context(), h.Request)
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

func TestObvious(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Request)
		says   string
	}{
		"tcg was asked for": {func(q *Request) { q.Want = TCG }, "software emulation was asked for"},
		"QEMU without KVM":  {func(q *Request) { q.Caps.Accelerators = []string{TCG} }, "built without KVM"},
		"no device":         {func(q *Request) { os.Remove(q.Device) }, "there is no "},
		"no such thing":     {func(q *Request) { q.Device = q.Dir }, "is a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFakeHost(t, "exit 1")
			tt.change(&h.Request)
			if c := h.choose(); c.Accel != TCG || !strings.Contains(c.Reason, tt.says) {
				t.Errorf("%+v, want %q", c, tt.says)
			}
			if h.boots() > 0 {
				t.Error("a guest was booted")
			}
		})
	}
}

func TestNoPermission(t *testing.T) {
	h := newFakeHost(t, "exit 1")
	if err := os.Chmod(h.Device, 0); err != nil {
		t.Fatal(err)
	}
	asNobody(t)
	if c := h.choose(); c.Accel != TCG || !strings.Contains(c.Reason, "may not be opened: run as root or join the group kvm") {
		t.Errorf("%+v", c)
	}
	h.Want = KVM
	if _, err := Choose(t.Context(), h.Request); errkind.CodeOf(err) != errkind.Usage {
		t.Errorf("got %v, want a user's fault", err)
	}
}

// asNobody takes from this thread the right to open everything, where it has it.
func asNobody(t *testing.T) {
	if os.Geteuid() != 0 {
		return
	}
	const nobody = 65534
	runtime.LockOSThread()
	if _, err := unix.SetfsuidRetUid(nobody); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := unix.SetfsuidRetUid(0); err == nil {
			runtime.UnlockOSThread()
		}
	})
}

func TestAskedForAndNotThere(t *testing.T) {
	h := newFakeHost(t, "echo 'qemu: Could not access KVM kernel module' >&2; exit 1")
	h.Want = KVM
	_, err := Choose(t.Context(), h.Request)
	if errkind.CodeOf(err) != errkind.Usage {
		t.Errorf("exit code %d, want that of a user's fault", errkind.CodeOf(err))
	}
	for _, want := range []string{"--accel kvm: ", "Could not access KVM kernel module", "--accel auto falls back"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q in it", err, want)
		}
	}
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("more than a line: %q", err)
	}
}

func TestVerdictIsRemembered(t *testing.T) {
	h := newFakeHost(t, "exit 1")
	var said []string
	h.Log = func(line string) { said = append(said, line) }
	first := h.choose()
	if first.Accel != TCG || !strings.Contains(first.Reason, "guests do not start with it") || h.boots() != 1 {
		t.Errorf("%+v after %d boots", first, h.boots())
	}
	if again := h.choose(); again != first || h.boots() != 1 || len(said) != 1 {
		t.Errorf("the second time: %+v after %d boots, said %q", again, h.boots(), said)
	}
	for name, change := range map[string]func(*Request){
		"another guest": func(q *Request) { q.Image = &guest.Image{Kernel: "/vmlinux", Initrd: "/newer"} },
		"another QEMU":  func(q *Request) { h.write(q.Binary, "#!/bin/sh\necho newer >>'"+h.count()+"'\nexit 1\n") },
		"a torn memory": func(q *Request) { h.write(q.Cache, `{"key":"`) },
	} {
		changed, before := h, h.boots()
		change(&changed.Request)
		if changed.choose(); h.boots() != before+1 {
			t.Errorf("%s: %d boots, want one more than %d", name, h.boots(), before)
		}
	}
}

func TestRememberedKVMIsNotTriedAgain(t *testing.T) {
	h := newFakeHost(t, "exit 1")
	h.Want = KVM
	if err := remember(h.Cache, h.key(), Choice{Accel: KVM}); err != nil {
		t.Fatal(err)
	}
	if c := h.choose(); c != (Choice{Accel: KVM}) || h.boots() != 0 {
		t.Errorf("%+v after %d boots", c, h.boots())
	}
}

// A failure may have been a passing one: whoever insists on KVM has it tried again, and what is found then counts.
func TestAFailureIsTriedAgainWhenKVMIsWanted(t *testing.T) {
	h := newFakeHost(t, "exit 1")
	h.choose()
	insisting := h.Request
	insisting.Want = KVM
	if _, err := Choose(t.Context(), insisting); errkind.CodeOf(err) != errkind.Usage || h.boots() != 2 {
		t.Errorf("%v after %d boots, want a second trial", err, h.boots())
	}
	if n := len(proofs(h.Cache)); n != 1 {
		t.Errorf("%d proofs of one key", n)
	}
}

func TestAVerdictThatCannotBeRemembered(t *testing.T) {
	h := newFakeHost(t, "exit 1")
	h.Cache = filepath.Join(h.Device, "accel.json") // below a file
	var said []string
	h.Log = func(line string) { said = append(said, line) }
	if c := h.choose(); c.Accel != TCG || len(said) != 2 || !strings.Contains(said[1], "cannot be remembered") {
		t.Errorf("%+v, said %q", c, said)
	}
}

func TestHangingGuest(t *testing.T) {
	defer func(d time.Duration) { trial = d }(trial)
	trial = 200 * time.Millisecond
	h := newFakeHost(t, "exec sleep 600")
	if c := h.choose(); c.Accel != TCG || !strings.Contains(c.Reason, "a guest hangs: no sign of life within 200ms") {
		t.Errorf("%+v", c)
	}
}

// A host that is itself emulated boots a guest too slowly for "auto": who insists on KVM waits longer.
func TestInsistingGivesMoreTime(t *testing.T) {
	defer func(d, e time.Duration) { trial, insistent = d, e }(trial, insistent)
	trial, insistent = time.Hour, 200*time.Millisecond
	h := newFakeHost(t, "exec sleep 600")
	h.Want = KVM
	if _, err := Choose(t.Context(), h.Request); err == nil || !strings.Contains(err.Error(), "no sign of life within 200ms") {
		t.Error(err)
	}
}

func TestInterruptedTrialProvesNothing(t *testing.T) {
	h := newFakeHost(t, "exec sleep 600")
	ctx, cancel := context.WithCancel(t.Context())
	h.Log = func(string) { time.AfterFunc(50*time.Millisecond, cancel) }
	if c, err := Choose(ctx, h.Request); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v; want the cancellation", c, err)
	}
	if _, err := os.Stat(h.Cache); err == nil {
		t.Error("an interrupted trial was remembered")
	}
}

// Runs of different state folders share a cache, and may look for the accelerator at the same moment.
func TestRememberAtTheSameTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache", "accel.json")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if err := remember(path, "key", Choice{Accel: KVM}); err != nil {
					t.Error(err)
				}
				if c, ok := recall(path, "key"); !ok || c.Accel != KVM {
					t.Errorf("recalled %+v, %v", c, ok)
				}
			}
		})
	}
	group.Wait()
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v; want the file alone", entries, err)
	}
}

// On a host with KVM the verdict is found by a boot, whatever it is, and a second look boots nothing.
func TestRealTrial(t *testing.T) {
	const device = "/dev/kvm"
	if _, err := os.Stat(device); err != nil {
		t.Skip(err)
	}
	binary := vmtest.QEMU(t)
	c, err := caps.Cached(t.Context(), binary, filepath.Join(vmtest.CacheDir(t), "caps"))
	if err != nil {
		t.Fatal(err)
	}
	dir := vmtest.Dir(t)
	boots := 0
	q := Request{
		Want: "auto", Binary: binary, Caps: c, Image: vmtest.Image(t), Dir: dir,
		Cache: filepath.Join(dir, "accel.json"), Log: func(string) { boots++ },
	}
	first, err := Choose(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("found: %+v", first)
	if (first.Accel == KVM) != (first.Reason == "") {
		t.Errorf("%+v: KVM needs no reason, everything else does", first)
	}
	tried := boots
	again, err := Choose(t.Context(), q)
	if err != nil || again != first || boots != tried {
		t.Errorf("the second time %+v, %v after %d boots; first %+v after %d", again, err, boots, first, tried)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "trial.*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
