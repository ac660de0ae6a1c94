package rig

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/meter"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/qemu/qmp"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
	"github.com/iotax/iotax/internal/wire"
)

func TestDurability(t *testing.T) {
	const asked = probeWrites * probeBlock
	flushes := func(n int64) *int64 { return &n }
	for name, tt := range map[string]struct {
		noFlush bool
		change  func(*probed)
		class   string
		why     string
	}{
		"writes reached a device that keeps them": {false, func(*probed) {}, record.Durable, "put 65536 bytes on the device"},
		"flushes are ignored":                     {true, func(*probed) {}, record.Unsafe, "cache.no-flush is on"},
		"the device cannot be watched": {
			false, func(p *probed) { p.counted, p.why = false, "the device under the volume cannot be watched" },
			record.Unknown, "the device under the volume cannot be watched: that a flush ends there could not be probed",
		},
		"writes stayed in RAM": {
			false, func(p *probed) { p.device.WriteBytes = asked - 1 },
			record.Volatile, "65535 of 65536 bytes had reached the device",
		},
		"no flush at a device with a cache": {
			false, func(p *probed) { p.volatile, p.device.Flushes = true, flushes(probeWrites-1) },
			record.Volatile, "16 synchronous writes made 15 flushes at a device that has a write cache",
		},
		"each flushed at a device with a cache":   {false, func(p *probed) { p.volatile = true }, record.Durable, "made 16 flushes at the device"},
		"a kernel that does not count flushes":    {false, func(p *probed) { p.volatile, p.device.Flushes = true, nil }, record.Durable, "put 65536 bytes on the device"},
		"others wrote beside us":                  {false, func(p *probed) { p.device.WriteBytes *= 9 }, record.Durable, "put 589824 bytes"},
		"unsafe, whatever others wrote meanwhile": {true, func(p *probed) { p.device.WriteBytes *= 9 }, record.Unsafe, "cache.no-flush is on"},
	} {
		t.Run(name, func(t *testing.T) {
			p := probed{asked: asked, counted: true, device: meter.Disk{WriteBytes: asked, Flushes: flushes(probeWrites)}}
			tt.change(&p)
			if class, why := durability(tt.noFlush, p); class != tt.class || !strings.Contains(why, tt.why) {
				t.Errorf("%s, %q; want %s, %q", class, why, tt.class, tt.why)
			}
		})
	}
}

// A flush that was made one with another's does not show; one that never arrives does not show again and again.
func TestClassify(t *testing.T) {
	written := func(n int64) probed {
		return probed{asked: probeWrites * probeBlock, counted: true, device: meter.Disk{WriteBytes: n}}
	}
	few, enough := written(0), written(probeWrites*probeBlock)
	for name, tt := range map[string]struct {
		probes []probed
		class  string
	}{
		"at once":      {[]probed{enough}, record.Durable},
		"at the third": {[]probed{few, few, enough}, record.Durable},
		"never":        {[]probed{few, few, few}, record.Volatile},
		"untold":       {[]probed{{why: "the device cannot be watched"}}, record.Unknown},
	} {
		n := 0
		class, why, err := classify(false, func() (probed, error) { n++; return tt.probes[n-1], nil })
		if class != tt.class || why == "" || err != nil || n != len(tt.probes) {
			t.Errorf("%s: %s, %q, %v after %d probes", name, class, why, err, n)
		}
	}
	if _, _, err := classify(false, func() (probed, error) { return probed{}, errors.New("lost") }); err == nil {
		t.Error("a probe that fails: no error")
	}
}

// asIntended is a stack on a disk of 1 MiB, and what is seen when it is what it should be.
func asIntended(cache string) (intended, seen) {
	stack := spec.Stack{Name: "s", Format: "raw", Bus: "virtio-blk", Cache: cache, AIO: "threads", IOThread: true}
	in := intended{stack, cmdline.Disk{Stack: stack, Serial: "d", Path: "/d"}, 1 << 20}
	direct := cache == "none" || cache == "directsync"
	var w seen
	w.protocol = qmp.BlockNode{NodeName: "d-file", Driver: "file"}
	w.protocol.Cache.Direct, w.protocol.Cache.NoFlush = direct, cache == "unsafe"
	w.top = qmp.BlockNode{NodeName: "d-top", Driver: "raw", DetectZeroes: "off"}
	w.openDirect, w.aio, w.iothreads = &direct, "threads", 1
	w.guest = wire.Disk{Serial: "d", Name: "vda", Size: 1 << 20, WriteCache: "write back", Scheduler: "none", Queues: 2}
	if cache == "writethrough" || cache == "directsync" {
		w.guest.WriteCache = "write through"
	}
	return in, w
}

// all is what differs on both sides.
func all(in intended, w seen) []string {
	_, guest := guestSide(in, w.guest)
	return append(w.mismatches(in), guest...)
}

func TestNoMismatch(t *testing.T) {
	for _, cache := range spec.Caches {
		in, w := asIntended(cache)
		if got := all(in, w); len(got) > 0 {
			t.Errorf("cache %s: %q", cache, got)
		}
	}
	in, w := asIntended("none")
	w.aio = "" // this QEMU does not tell
	if got := w.mismatches(in); len(got) > 0 {
		t.Errorf("aio untold: %q", got)
	}
}

func TestMismatches(t *testing.T) {
	no, yes := false, true
	for name, tt := range map[string]struct {
		cache  string
		change func(*intended, *seen)
		want   []string
	}{
		"the node is buffered": {
			"none", func(_ *intended, w *seen) { w.protocol.Cache.Direct, w.openDirect = false, &no },
			[]string{"cache none was asked for, but QEMU's node has cache.direct false", "cache none was asked for, but O_DIRECT is false on the open file"},
		},
		"the file is direct": {
			"writeback", func(_ *intended, w *seen) { w.openDirect = &yes },
			[]string{"cache writeback was asked for, but O_DIRECT is true on the open file"},
		},
		"flushes are ignored": {
			"writeback", func(_ *intended, w *seen) { w.protocol.Cache.NoFlush = true },
			[]string{"cache writeback was asked for, but QEMU's node has cache.no-flush true"},
		},
		"flushes are not ignored": {
			"unsafe", func(_ *intended, w *seen) { w.protocol.Cache.NoFlush = false },
			[]string{"cache unsafe was asked for, but QEMU's node has cache.no-flush false"},
		},
		"another aio": {
			"none", func(_ *intended, w *seen) { w.aio = "not threads: Cannot change the option 'aio'" },
			[]string{"aio threads was asked for, but the node has not threads: Cannot change the option 'aio'"},
		},
		"no iothread": {
			"none", func(_ *intended, w *seen) { w.iothreads = 0 },
			[]string{"an iothread was asked for, but none serves this disk"},
		},
		"writethrough that the guest does not see": {
			"writethrough", func(_ *intended, w *seen) { w.guest.WriteCache = "write back" },
			[]string{"cache writethrough was asked for, but the guest sees a volatile write cache"},
		},
		"a write cache that the guest does not see": {
			"none", func(_ *intended, w *seen) { w.guest.WriteCache = "write through" },
			[]string{"cache none was asked for, but the guest sees no write cache and will not flush"},
		},
		"a server without nodes has none to compare": {
			"none", func(in *intended, w *seen) { in.stack.Bus, w.protocol = "vhost-user-blk", qmp.BlockNode{} }, nil,
		},
		"a server with a buffered file": {
			"none", func(in *intended, w *seen) {
				in.stack.Bus, w.protocol, w.openDirect = "vhost-user-blk", qmp.BlockNode{}, &no
			},
			[]string{"cache none was asked for, but O_DIRECT is false on the open file"},
		},
		"another size": {
			"none", func(_ *intended, w *seen) { w.guest.Size = 512 },
			[]string{"the guest sees a disk of 512 bytes, expected 1048576"},
		},
		"no latency, so no file, no cache and no aio to compare": {
			"none", func(in *intended, w *seen) {
				in.stack.Format = "null-co"
				*w = seen{iothreads: 1, guest: wire.Disk{Size: 1 << 20, WriteCache: "write through"}}
			}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			in, w := asIntended(tt.cache)
			tt.change(&in, &w)
			if diff := cmp.Diff(tt.want, all(in, w)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestEffective(t *testing.T) {
	in, w := asIntended("none")
	got := w.effective(in)
	want := map[string]string{
		"cache.direct": "on", "cache.no-flush": "off", "format": "raw", "protocol": "file", "detect-zeroes": "off",
		"iothread": "on", "aio": "threads", "O_DIRECT": "on",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	in.stack.VQMapping, w.iothreads = 3, 2
	in.stack.Bus, w.serving.Settings = "vhost-user-blk", map[string]string{"export": "vhost-user-blk"}
	maps.Copy(want, map[string]string{"iothreads": "2", "server": "qemu-storage-daemon", "export": "vhost-user-blk"})
	if diff := cmp.Diff(want, w.effective(in)); diff != "" {
		t.Errorf("served (-want +got):\n%s", diff)
	}
	guest, _ := guestSide(in, w.guest)
	if diff := cmp.Diff(map[string]string{
		"guest disk": "vda", "guest write cache": "write back", "guest scheduler": "none", "guest queues": "2",
		"guest logical block": "", "guest physical block": "", "guest read-ahead (KiB)": "",
	}, guest); diff != "" {
		t.Errorf("in the guest (-want +got):\n%s", diff)
	}
	w.aio, w.openDirect = "", nil
	got = w.effective(in)
	for _, unknown := range []string{"aio", "O_DIRECT"} {
		if v, told := got[unknown]; told {
			t.Errorf("%s is told as %q, though nobody knows", unknown, v)
		}
	}
}

func TestComplaint(t *testing.T) {
	exit := &proc.Exit{
		Argv: []string{"/usr/bin/qemu", "-M", "q35", "-device", "nvme,id=disk-1,drive=disk-1-top"},
		Stderr: "qemu: warning: disk-1 is slow\nqemu: -device nvme,id=disk-1,drive=disk-1-top: serial property not set\n" +
			"qemu: -M q35: trouble with 'disk-22-file'\nwithout a name\n",
	}
	for serial, want := range map[string]string{
		"disk-1": "serial property not set", "disk-2": "", "disk-22": "trouble with 'disk-22-file'", "": "serial property not set", "disk": "serial property not set",
	} {
		if got := complaint(exit, serial); got != want {
			t.Errorf("about %q: %q, want %q", serial, got, want)
		}
	}
	for name, other := range map[string]error{
		"another error": os.ErrNotExist, "a signal": &proc.Exit{Status: -1}, "an end that was asked for": &proc.Exit{Status: 1, Asked: true},
		"a panic": &proc.Exit{Status: 1, Panic: "Kernel panic"}, "powered off": &proc.Exit{},
	} {
		if refusal(other) != nil {
			t.Errorf("%s counts as refusal", name)
		}
	}
	if refusal(fmt.Errorf("start: %w", &proc.Exit{Status: 1})) == nil {
		t.Error("a refusal does not count as one")
	}
}

func TestOneLine(t *testing.T) {
	exit := &proc.Exit{Name: "daemon", Argv: []string{"/bin/daemon"}, Status: 1, Stderr: "daemon: no such export\nmore"}
	silent := &proc.Exit{Name: "daemon", Argv: []string{"/bin/daemon"}, Status: 1}
	for want, err := range map[string]error{
		"daemon refuses it: no such export":     fmt.Errorf("serving: %w", exit),
		"daemon (pid 0) failed with status 1":   silent,
		"xl said: not enough memory":            fmt.Errorf("boot: %w", &sys.CommandError{Argv: []string{"/sbin/xl", "create"}, Stderr: "Parsing config\nnot enough memory\n", Err: os.ErrInvalid}),
		"xl create: invalid argument":           &sys.CommandError{Argv: []string{"xl", "create"}, Err: os.ErrInvalid},
		"the guest did not see the disk":        errors.New("the guest did not see the disk"),
		"the first line, and not what is below": errors.New("the first line, and not what is below\nbelow"),
	} {
		if got := oneLine(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A line of QEMU's is about one aio, and about no disk in particular.
func TestGaveUp(t *testing.T) {
	native := "qemu: Unable to use native AIO, falling back to thread pool: Resource temporarily unavailable"
	ring := "qemu: Unable to use linux io_uring, falling back to thread pool: Operation not permitted"
	aio := func(s string) spec.Stack { return spec.Stack{AIO: s, Daemon: "qemu-storage-daemon"} }
	for want, got := range map[string][]string{
		"":                                    gaveUp([]string{native, ring}, aio("threads"), "QEMU"),
		"QEMU said: " + native:                gaveUp([]string{ring, native}, aio("native"), "QEMU"),
		"QEMU said: " + ring:                  gaveUp([]string{native, ring}, aio("io_uring"), "QEMU"),
		"qemu-storage-daemon said: " + native: Serving{AIO: &proc.AIO{Contexts: 1}, Fallbacks: []string{native}}.doubts(aio("native")),
		"aio io_uring was asked for, but qemu-storage-daemon has no io_uring instance open": Serving{AIO: &proc.AIO{}, Fallbacks: []string{native}}.doubts(aio("io_uring")),
	} {
		if strings.Join(got, "; ") != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := (Serving{}).doubts(aio("native")); len(got) > 0 {
		t.Errorf("a server with its own ways: %q", got)
	}
}

func TestReadAhead(t *testing.T) {
	for word, want := range map[string]string{"": "", "none": "0", "128k": "128", "4MiB": "4096", "much": ""} {
		if got := readAhead(word); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestPinned(t *testing.T) {
	for want, p := range map[string]proc.Policy{
		"off": {}, "vCPUs on CPUs 0,1": {VCPUs: []int{0, 1}}, "vCPUs on CPUs 0, all else on 1,2": {VCPUs: []int{0}, Others: []int{1, 2}},
	} {
		if got := pinned(p); got != want {
			t.Errorf("%+v: %q, want %q", p, got, want)
		}
	}
}

func TestGuestCPU(t *testing.T) {
	shared := proc.Policy{VCPUs: []int{0, 1}, Others: []int{1}}
	apart := proc.Policy{VCPUs: []int{0, 1}, Others: []int{2, 3}}
	for name, tt := range map[string]struct {
		policy  proc.Policy
		iodepth int
		want    string
	}{
		"one I/O at a time, last vCPU shared":  {shared, 1, "1"},
		"many I/Os, last vCPU shared":          {shared, 32, "0"},
		"each vCPU has a CPU to itself":        {apart, 1, "0"},
		"one vCPU":                             {proc.Policy{VCPUs: []int{0}, Others: []int{0}}, 1, "0"},
		"nothing is known of the host's CPUs":  {proc.Policy{}, 1, "0"},
		"many vCPUs on one CPU: all is shared": {proc.Policy{VCPUs: []int{3, 3, 3, 3}, Others: []int{3}}, 1, "3"},
	} {
		if got := guestCPUs(tt.policy, 2, spec.Workload{IODepth: tt.iodepth}); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// Several jobs have all vCPUs, pinned or not.
func TestGuestCPUsOfJobs(t *testing.T) {
	for cpus, want := range map[int]string{1: "0", 4: "0-3"} {
		if got := guestCPUs(proc.Policy{}, cpus, spec.Workload{IODepth: 1, NumJobs: 8}); got != want {
			t.Errorf("%d vCPUs: %s, want %s", cpus, got, want)
		}
	}
}

func TestHostCPUs(t *testing.T) {
	allowed, err := proc.Allowed()
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]int{1: 1, 1000: len(allowed)} {
		list, err := hostCPUs(n)
		if err != nil || len(strings.Split(list, ",")) != want {
			t.Errorf("hostCPUs(%d) = %q, %v; want %d of %v", n, list, err, want, allowed)
		}
	}
}

func TestManners(t *testing.T) {
	r := New(Config{})
	r.yield(t.Context())
	if got := r.Manners(); got != "" {
		t.Errorf("a run that is not polite says %q", got)
	}
	r.Polite = true
	if got := r.Manners(); got != "waited 0 times for others, 0 s in all" {
		t.Errorf("a polite run that never waited says %q", got)
	}
}

// FuzzComplaint: whatever QEMU says, what is told of it is one line of its own.
func FuzzComplaint(f *testing.F) {
	f.Add("qemu: -M q35: no such machine\n", "disk-1")
	f.Add("qemu: warning: disk-1\r\n\n\xff disk-1 (\n", "disk-1")
	f.Fuzz(func(t *testing.T, stderr, serial string) {
		if !utf8.ValidString(serial) { // package cmdline lets none through
			return
		}
		line := complaint(&proc.Exit{Argv: []string{"qemu", "-M", "q35"}, Stderr: stderr}, serial)
		if strings.Contains(line, "\n") || !strings.Contains(stderr, line) {
			t.Errorf("%q of %q", line, stderr)
		}
	})
}
