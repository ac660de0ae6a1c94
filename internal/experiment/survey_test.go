package experiment

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/hostenv"
	"github.com/iotax/iotax/internal/provision/provisiontest"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
)

func TestNeed(t *testing.T) {
	e, err := spec.Preset("quick")
	if err != nil {
		t.Fatal(err)
	}
	need, err := Need(sys.World{}, e)
	volumes := int64(1)
	for _, s := range e.Stacks {
		if !s.Ceiling() {
			volumes++
		}
	}
	if err != nil || need < volumes*e.Size || need > volumes*e.Size+100<<20 {
		t.Errorf("%d bytes, %v; want a little more than %d volumes of %d: the host's and one for each stack with a disk", need, err, volumes, e.Size)
	}
}

// What cannot answer an experiment's question by itself does not keep a run alive.
func TestHelpersAreNoComparison(t *testing.T) {
	guest, null := spec.Stack{Name: "guest", Bus: "virtio-blk"}, spec.Stack{Name: "null", Bus: "virtio-blk", Format: "null-co"}
	inside, bench := spec.Stack{Name: "inside", Bus: "null_blk"}, spec.Stack{Name: "bench", Bus: "host", Daemon: "qemu-img"}
	for name, tt := range map[string]struct {
		stacks []spec.Stack
		absent []string
		want   string // "" for a run that may start
	}{
		"all there":            {[]spec.Stack{guest, null, inside, bench}, nil, ""},
		"the guest's disk":     {[]spec.Stack{guest, null, inside, bench}, []string{"guest"}, "no disk of trial can be offered here: no guest"},
		"all but it":           {[]spec.Stack{guest, null, inside, bench}, []string{"null", "inside", "bench"}, ""},
		"on the host alone":    {[]spec.Stack{null, inside, bench}, nil, ""},
		"nor on the host":      {[]spec.Stack{null, inside, bench}, []string{"bench"}, "no bench"},
		"nothing but ceilings": {[]spec.Stack{null, inside}, nil, ""},
	} {
		var judged []record.Stack
		for _, s := range tt.stacks {
			is := record.Stack{Name: s.Name}
			if slices.Contains(tt.absent, s.Name) {
				is.Unavailable, is.Mend = "no "+s.Name, "get one"
			}
			judged = append(judged, is)
		}
		err := NothingToCompare(spec.Experiment{Name: "trial", Stacks: tt.stacks}, judged)
		if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || errkind.CodeOf(err) != errkind.Usage) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestCheckMemory(t *testing.T) {
	g := spec.Guest{Memory: 512 << 20}
	for host, fits := range map[int64]bool{0: true, 1 << 30: true, 1<<30 - 1: false, 64 << 30: true} {
		if err := CheckMemory(host, g); (err == nil) != fits {
			t.Errorf("%d bytes: %v", host, err)
		}
	}
}

// A folder that this user may not write to is not taken for one without O_DIRECT.
func TestLookWithoutPermission(t *testing.T) {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its identity
		const nobody = 65534
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody); errno != 0 && os.Geteuid() == 0 {
			done <- nil
			return
		}
		_, err := Look(hostenv.Host{}, "/nobody/scratch")
		done <- err
	}()
	err := <-done
	if errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), "/ cannot be written to: permission denied") || strings.Contains(err.Error(), "O_DIRECT") {
		t.Errorf("got %v", err)
	}
}

// Data that no signature tells of is not erased without a word: the refusal shows which device it would be.
func TestDeviceWithUnknownData(t *testing.T) {
	device := provisiontest.Loop(t, 32<<20)
	write := func(b []byte) {
		f, err := os.OpenFile(device, os.O_WRONLY|os.O_SYNC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteAt(b, 0); err != nil {
			t.Fatal(err)
		}
	}
	check := func(erase bool) error {
		r := &Ready{Options: Options{Device: device, Erase: erase}, world: sys.World{Runner: sys.Exec{}}}
		return r.findDevice(t.Context())
	}
	if err := check(false); err != nil {
		t.Errorf("a device of zeros: %v", err)
	}
	write([]byte("no signature, and worth a lot"))
	err := check(false)
	for _, want := range []string{"--device " + device, "32 MiB", "first MiB is not all zero", "add --erase " + device} {
		if errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q in it", err, want)
		}
	}
	if err := check(true); err != nil {
		t.Errorf("a device that may be erased: %v", err)
	}
}
