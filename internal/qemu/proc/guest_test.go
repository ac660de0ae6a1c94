package proc

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/spec"
)

// firmware is a guest in one page: from the reset vector it writes text to the first serial port, then resets the
// machine through the keyboard controller, which ends a QEMU with -no-reboot.
func firmware(text string) []byte {
	const size, code, message = 64 << 10, 0xf000, 0xf100
	rom := make([]byte, size)
	copy(rom[0xfff0:], []byte{0xe9, 0x0d, 0xf0}) // jmp 0xf000
	copy(rom[code:], []byte{
		0xba, 0xf8, 0x03, // mov dx, 0x3f8
		0xbe, message & 0xff, message >> 8, // mov si, message
		0x2e, 0xac, // next: cs lodsb
		0x84, 0xc0, // test al, al
		0x74, 0x03, // jz reset
		0xee,       // out dx, al
		0xeb, 0xf7, // jmp next
		0xb0, 0xfe, // reset: mov al, 0xfe
		0xe6, 0x64, // out 0x64, al
		0xf4, 0xeb, 0xfd, // halt: hlt; jmp halt
	})
	copy(rom[message:], text)
	return rom
}

func TestGuestThatPanics(t *testing.T) {
	c := paused(t)
	c.Paused, c.Bios = false, filepath.Join(t.TempDir(), "rom")
	text := "booting\r\nKernel panic - not syncing: no init\r\nRebooting"
	if err := os.WriteFile(c.Bios, firmware(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var heard []string
	p := start(t, c, Config{OnConsole: func(line string) { heard = append(heard, line) }})
	<-p.Done()
	want := strings.Split(text, "\r\n")
	if diff := gocmp.Diff(want, heard); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if p.Panic() != want[1] || p.Console() != strings.Join(want, "\n")+"\n" {
		t.Errorf("Panic = %q, Console = %q", p.Panic(), p.Console())
	}
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "ended by itself with status 0") ||
		!strings.Contains(err.Error(), "the guest said: "+want[1]) {
		t.Errorf("Err = %v", err)
	}
}

// disk makes a file full of data for a disk of the guest; a test on a file system without O_DIRECT is skipped.
func disk(t *testing.T, serial string, s spec.Stack) cmdline.Disk {
	t.Helper()
	d := cmdline.Disk{Stack: s, Serial: serial, Path: filepath.Join(t.TempDir(), serial)}
	if err := os.WriteFile(d.Path, slices.Repeat([]byte("data"), 256<<10), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(d.Path, os.O_RDWR|syscall.O_DIRECT, 0)
	if err != nil {
		t.Skipf("needs O_DIRECT: %v", err)
	}
	f.Close()
	return d
}

func TestThreadsAndPin(t *testing.T) {
	c := paused(t)
	s := spec.Stack{Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "threads", IOThread: true}
	c.Disks = []cmdline.Disk{disk(t, "vd0", s), disk(t, "vd1", s)}
	p := start(t, c, Config{})
	m := monitor(t, c)
	threads, err := Threads(t.Context(), p.PID(), m)
	if err != nil {
		t.Fatal(err)
	}
	count := map[Role]int{}
	var iothreads []string
	for _, th := range threads {
		count[th.Role]++
		if th.Role == IOThread {
			iothreads = append(iothreads, th.Name)
		}
	}
	slices.Sort(iothreads)
	if count[Main] != 1 || count[VCPU] != 2 || !slices.Equal(iothreads, []string{c.Disks[0].IOThreadID(), c.Disks[1].IOThreadID()}) {
		t.Errorf("threads %+v", threads)
	}
	allowed, err := Allowed()
	if err != nil || len(allowed) == 0 {
		t.Fatalf("Allowed = %v, %v", allowed, err)
	}
	policy := Decide(allowed, 2)
	if err := Pin(threads, policy); err != nil {
		t.Fatal(err)
	}
	for _, th := range threads {
		want := policy.Others
		if th.Role == VCPU {
			want = []int{policy.VCPUs[th.Index]}
		}
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(th.TID, &set); err == unix.ESRCH {
			continue // a worker that has ended
		} else if err != nil || !slices.Equal(list(&set), want) {
			t.Errorf("%+v runs on %v, %v; want %v", th, list(&set), err, want)
		}
	}
	if _, err := Threads(t.Context(), 1<<30, m); err == nil {
		t.Error("threads of a process that does not exist")
	}
}

func TestEffectiveOfQEMU(t *testing.T) {
	for _, tt := range []struct {
		cache, aio string
		direct     bool
	}{
		{"none", "threads", true},
		{"none", "native", true},
		{"none", "io_uring", true},
		{"directsync", "native", true},
		{"writeback", "threads", false},
		{"unsafe", "io_uring", false},
	} {
		t.Run(tt.cache+" "+tt.aio, func(t *testing.T) {
			c := paused(t)
			d := disk(t, "vd0", spec.Stack{Format: "raw", Bus: "virtio-blk", Cache: tt.cache, AIO: tt.aio})
			null := cmdline.Disk{Stack: spec.Stack{Format: "null-co", Bus: "virtio-blk", Cache: "none"}, Serial: "null", Size: 1 << 20}
			c.Disks = []cmdline.Disk{d, null}
			p := start(t, c, Config{})
			readAll(t, c, d.Node())
			files, err := Effective(p.PID(), d.Path)
			if err != nil || len(files) != 1 || files[0].Direct != tt.direct || files[0].Sync || files[0].ReadOnly {
				t.Errorf("Effective = %+v, %v; want direct %v", files, err, tt.direct)
			}
			seen, err := AsyncIO(p.PID())
			if err != nil {
				t.Fatal(err)
			}
			for _, aio := range spec.AIOs {
				contradicted := seen.Contradicts(aio) != ""
				if want := aio != tt.aio && aio != "threads"; contradicted != want {
					t.Errorf("%+v contradicts %s: %v, want %v; QEMU said %q", seen, aio, contradicted, want, p.Stderr())
				}
			}
			if got := p.Fallbacks(); len(got) > 0 {
				t.Errorf("Fallbacks = %q", got)
			}
		})
	}
}

// readAll lets QEMU itself read the node, by a mirror job into nothing, so that its aio is in use though no guest runs.
func readAll(t *testing.T, c cmdline.Config, node string) {
	t.Helper()
	m := monitor(t, c)
	target := json.RawMessage(`{"driver": "null-co", "node-name": "nothing", "size": 1048576}`)
	if err := m.Call(t.Context(), "blockdev-add", target, nil); err != nil {
		t.Fatal(err)
	}
	events := m.Subscribe("BLOCK_JOB_READY", "BLOCK_JOB_COMPLETED", "BLOCK_JOB_ERROR")
	defer events.Close()
	mirror := map[string]string{"job-id": "read", "device": node, "target": "nothing", "sync": "full"}
	if err := m.Call(t.Context(), "blockdev-mirror", mirror, nil); err != nil {
		t.Fatal(err)
	}
	if e, err := events.Next(t.Context()); err != nil || e.Name != "BLOCK_JOB_READY" {
		t.Fatalf("mirror: %+v, %v", e, err)
	}
}

func TestFallbacks(t *testing.T) {
	p := &Process{}
	p.stderr.Write([]byte("warning: something\nqemu: Unable to use linux AIO, falling back to thread pool: Try again\n"))
	want := []string{"qemu: Unable to use linux AIO, falling back to thread pool: Try again"}
	if diff := gocmp.Diff(want, p.Fallbacks()); diff != "" {
		t.Errorf("Fallbacks (-want +got):\n%s", diff)
	}
}
