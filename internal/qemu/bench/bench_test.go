package bench_test

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/qemu/bench"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
)

func stack(format, cache, aio string) spec.Stack {
	return spec.Stack{Format: format, Bus: "host", Daemon: "qemu-img", Cache: cache, AIO: aio, Discard: "ignore", DetectZeroes: "off"}
}

func disk(s spec.Stack) cmdline.Disk {
	return cmdline.Disk{Stack: s, Serial: "disk0", Path: "/vm/a,b.img"}
}

var load = bench.Load{BlockSize: 4096, Depth: 32, Count: 1000, Offset: 8192, Step: 1052672}

// runs are those of the golden files, by file name.
func runs() map[string]struct {
	disk cmdline.Disk
	load bench.Load
} {
	type run = struct {
		disk cmdline.Disk
		load bench.Load
	}
	part := func(d cmdline.Disk) cmdline.Disk {
		d.Path, d.Block, d.Offset, d.Size = "/dev/sdb", true, 1<<20, 64<<20
		return d
	}
	write, sync := load, load
	write.Write, sync.Write = true, true
	sync.Depth, sync.FlushEvery = 1, 1
	whole := stack("qcow2", "directsync", "native")
	whole.L2CacheSize, whole.LazyRefcounts, whole.Discard, whole.DetectZeroes = 1<<20, true, "unmap", "unmap"
	overlay := stack("qcow2", "none", "io_uring")
	overlay.BackingFile = true
	over := disk(overlay)
	over.Base = "/vm/base.img"
	null := disk(stack("null-co", "writeback", "threads"))
	null.Size = 1 << 20
	return map[string]run{
		"raw":         {disk(stack("raw", "none", "io_uring")), load},
		"raw-device":  {part(disk(stack("raw", "none", "native"))), write},
		"qcow2":       {disk(whole), sync},
		"qcow2-part":  {part(disk(stack("qcow2", "unsafe", "threads"))), load},
		"qcow2-over":  {over, load},
		"null-co":     {null, write},
		"writeback":   {disk(stack("raw", "writeback", "threads")), write},
		"one-request": {disk(stack("raw", "writethrough", "threads")), bench.Load{BlockSize: 1 << 20, Depth: 1, Count: 1}},
	}
}

func TestArgs(t *testing.T) {
	for name, r := range runs() {
		args, err := bench.Args("qemu-img", r.disk, r.load)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		golden.Equal(t, "testdata/"+name+".args", strings.Join(args, "\n")+"\n")
	}
}

func TestFaults(t *testing.T) {
	for name, tt := range map[string]struct {
		disk func(*cmdline.Disk)
		load bench.Load
		want []string
	}{
		"all of it": {
			func(d *cmdline.Disk) { d.Path, d.Stack.Cache = "", "lots" },
			bench.Load{Offset: -1, Step: -1, FlushEvery: 1},
			[]string{"no path", `cache "lots"`, "requests of 0 bytes", "0 requests in flight", "0 requests, 1 to", "offset -1", "a step of -1", "flushes between reads"},
		},
		"too much":   {func(*cmdline.Disk) {}, bench.Load{BlockSize: 1, Depth: 1, Count: 1 << 31, Step: 1 << 31}, []string{"2147483648 requests", "a step of 2147483648"}},
		"too deep":   {func(*cmdline.Disk) {}, bench.Load{BlockSize: 1, Depth: 2, Count: 1, Write: true, FlushEvery: 1}, []string{"after every 1 writes, with 2"}},
		"buffered":   {func(d *cmdline.Disk) { d.Stack.Cache, d.Stack.AIO = "writeback", "native" }, load, []string{"aio native needs"}},
		"no overlay": {func(d *cmdline.Disk) { d.Base = "/base" }, load, []string{"an overlay, and it alone"}},
	} {
		d := disk(stack("raw", "none", "native"))
		tt.disk(&d)
		_, err := bench.Args("qemu-img", d, tt.load)
		var faults errkind.List
		if !errors.As(err, &faults) || errkind.CodeOf(err) != errkind.Usage {
			t.Errorf("%s: %v, want a list of faults", name, err)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q has no %q", name, err, want)
			}
		}
	}
}

// A stride visits every block before any twice, wherever QEMU wraps around, and never comes close to where it has just been.
func TestStride(t *testing.T) {
	for _, tt := range []struct{ size, block int64 }{
		{512 << 20, 4096},
		{1 << 20, 4096},
		{64 << 20, 512},
		{100 << 20, 1 << 20},
		{3 << 20, 1 << 20}, // too few blocks to be strided
	} {
		step := bench.Stride(tt.size, tt.block)
		blocks := tt.size / tt.block
		for _, around := range []int64{tt.size, tt.size - tt.block} {
			n := around / tt.block
			seen := make([]bool, n)
			at := bench.Start(12345, tt.size, tt.block)
			for i := range n {
				if seen[at/tt.block] {
					t.Fatalf("%d of %d: block %d stands twice, after %d of %d", tt.block, tt.size, at/tt.block, i, n)
				}
				seen[at/tt.block] = true
				at = (at + step) % around
			}
		}
		if apart := min(step/tt.block, blocks-step/tt.block); blocks > 100 && float64(apart) < 0.3*float64(blocks) {
			t.Errorf("%d of %d: neighbours in time are only %d of %d blocks apart", tt.block, tt.size, apart, blocks)
		}
	}
	if step := bench.Stride(1<<40, 4096); step < 1<<30 || step > math.MaxInt32 || step%4096 != 0 {
		t.Errorf("the step over a TiB is %d: it has to fit into an int and to be far", step)
	}
}

func TestStart(t *testing.T) {
	seen := map[int64]bool{}
	for seed := range uint64(50) {
		at := bench.Start(seed*7919, 1<<20, 4096)
		if at < 0 || at%4096 != 0 || at > 1<<20-2*4096 {
			t.Errorf("seed %d starts at %d", seed, at)
		}
		seen[at] = true
	}
	if len(seen) < 25 || bench.Start(7, 4096, 4096) != 0 {
		t.Errorf("50 seeds start at %d places", len(seen))
	}
}

const two = `Sending 1000 write requests, 4096 bytes each, 32 in parallel (starting at offset 8192, step size 1052672)
Sending flush every 64 requests
Run completed in 0.125 seconds.
Sending 5 read requests, 512 bytes each, 1 in parallel (starting at offset 0, step size 0)
Run completed in 12.000 seconds.
`

func TestParse(t *testing.T) {
	got, err := bench.Parse([]byte(two))
	if err != nil {
		t.Fatal(err)
	}
	want := []bench.Result{
		{Load: bench.Load{Write: true, BlockSize: 4096, Depth: 32, Count: 1000, Offset: 8192, Step: 1052672, FlushEvery: 64}, Took: 125 * time.Millisecond},
		{Load: bench.Load{BlockSize: 512, Depth: 1, Count: 5}, Took: 12 * time.Second},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got[0].Flushes() != 15 || got[1].Flushes() != 0 {
		t.Errorf("%d and %d flushes", got[0].Flushes(), got[1].Flushes())
	}
}

func TestParseFaults(t *testing.T) {
	first, rest, _ := strings.Cut(two, "\n")
	for name, tt := range map[string]struct{ out, want string }{
		"nothing":          {"\n", "said nothing"},
		"not completed":    {first + "\n", "did not complete its run of 1000"},
		"no beginning":     {rest, "not expected here"},
		"two beginnings":   {first + "\n" + first + "\n", "not expected here"},
		"two flush lines":  {first + "\nSending flush every 64 requests\nSending flush every 64 requests\n", "not expected here"},
		"another's words":  {first + "\nhello\n", `"hello"`},
		"a number too big": {"Sending 99999999999999999999 read requests, 4096 bytes each, 32 in parallel (starting at offset 0, step size 0)\n", "out of range"},
	} {
		if got, err := bench.Parse([]byte(tt.out)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %v; want %q", name, got, err, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(two))
	f.Add([]byte("Sending 1 read requests"))
	f.Add([]byte("Run completed in 0.000 seconds.\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		all, err := bench.Parse(out)
		if err != nil {
			return
		}
		if len(all) == 0 {
			t.Fatal("neither a run nor a fault")
		}
		for _, r := range all {
			if r.Took < 0 || r.Count < 0 || r.Depth < 0 || r.Flushes() < 0 {
				t.Errorf("%+v", r)
			}
		}
	})
}

func TestNext(t *testing.T) {
	for _, tt := range []struct {
		count      int64
		took, want time.Duration
		next       int64
	}{
		{64, 0, time.Second, 512},
		{64, 49 * time.Millisecond, time.Second, 512},
		{1000, 500 * time.Millisecond, time.Second, 2000},
		{1000, 4 * time.Second, time.Second, 250},
		{1, time.Hour, time.Second, 1},
		{bench.MaxCount, 0, time.Second, bench.MaxCount},
		{bench.MaxCount, 100 * time.Millisecond, time.Second, bench.MaxCount},
	} {
		if got := bench.Next(tt.count, tt.took, tt.want); got != tt.next {
			t.Errorf("after %d in %v, for %v: %d, want %d", tt.count, tt.took, tt.want, got, tt.next)
		}
	}
}

func qemuImg(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("qemu-img")
	if err != nil {
		t.Skip(err)
	}
	return path
}

// TestReal lets the program on this machine do a few requests on disks of every kind, and reads what it says.
func TestReal(t *testing.T) {
	binary, dir := qemuImg(t), t.TempDir()
	raw, image := filepath.Join(dir, "a,b.raw"), filepath.Join(dir, "image.qcow2")
	if err := os.WriteFile(raw, make([]byte, 4<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (sys.Exec{}).Run(t.Context(), sys.Command{Argv: []string{binary, "create", "-q", "-f", "qcow2", image, "2M"}}); err != nil {
		t.Fatal(err)
	}
	at := func(s spec.Stack, path string, size int64) cmdline.Disk {
		return cmdline.Disk{Stack: s, Serial: "disk0", Path: path, Size: size}
	}
	part := at(stack("raw", "writeback", "threads"), raw, 2<<20)
	part.Offset = 1 << 20
	top := filepath.Join(dir, "top.qcow2")
	if _, err := (sys.Exec{}).Run(t.Context(), sys.Command{Argv: []string{binary, "create", "-q", "-f", "qcow2", "-b", image, "-F", "qcow2", top}}); err != nil {
		t.Fatal(err)
	}
	overlay := at(stack("qcow2", "writeback", "threads"), top, 0)
	overlay.Stack.BackingFile, overlay.Base = true, image
	zeroes := stack("qcow2", "unsafe", "threads")
	zeroes.Discard, zeroes.DetectZeroes, zeroes.L2CacheSize = "unmap", "unmap", 1<<20
	for name, d := range map[string]cmdline.Disk{
		"raw": at(stack("raw", "writethrough", "threads"), raw, 0), "part": part, "overlay": overlay,
		"qcow2": at(zeroes, image, 0), "null-co": at(stack("null-co", "", ""), "", 2<<20),
	} {
		d.Stack.Cache = cmp1(d.Stack.Cache, "writeback")
		for _, write := range []bool{false, true} {
			l := bench.Load{Write: write, BlockSize: 4096, Depth: 4, Count: 50, Step: bench.Stride(2<<20, 4096), Offset: bench.Start(3, 2<<20, 4096)}
			if write {
				l.FlushEvery = 5
			}
			argv, err := bench.Args(binary, d, l)
			if err != nil {
				t.Fatal(err)
			}
			out, err := (sys.Exec{}).Run(t.Context(), sys.Command{Argv: argv})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			got, err := bench.Parse(out)
			if err != nil || len(got) != 1 {
				t.Fatalf("%s: %v in %q", name, err, out)
			}
			if diff := cmp.Diff(l, got[0].Load); diff != "" {
				t.Errorf("%s (-asked +said):\n%s", name, diff)
			}
		}
	}
	whole, err := os.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	if whole[1<<20] != bench.Pattern && !strings.Contains(string(whole[1<<20:3<<20]), string([]byte{bench.Pattern, bench.Pattern})) {
		t.Error("nothing was written to the part of the file")
	}
}

func cmp1(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func TestSupports(t *testing.T) {
	binary := qemuImg(t)
	for _, s := range []spec.Stack{stack("raw", "writeback", "threads"), stack("qcow2", "unsafe", "threads"), stack("null-co", "writeback", "threads")} {
		if reason, mend, err := bench.Supports(t.Context(), sys.Exec{}, binary, s, t.TempDir()); err != nil || reason != "" || mend != "" {
			t.Errorf("%+v: %q, %q, %v", s, reason, mend, err)
		}
	}
	old := filepath.Join(t.TempDir(), "qemu-img")
	if err := os.WriteFile(old, []byte("#!/bin/sh\necho \"qemu-img: unrecognized option '-i'\" >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	reason, mend, err := bench.Supports(t.Context(), sys.Exec{}, old, stack("raw", "none", "io_uring"), t.TempDir())
	if err != nil || reason != "qemu-img refuses: unrecognized option '-i'" || !strings.Contains(mend, "newer QEMU") {
		t.Errorf("an old one: %q, %q, %v", reason, mend, err)
	}
	left, err := os.ReadDir(filepath.Dir(old))
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestLook sees how a run has its file open.
func TestLook(t *testing.T) {
	binary, path := qemuImg(t), filepath.Join(t.TempDir(), "raw")
	if err := os.WriteFile(path, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := bench.Look(t.Context(), binary, cmdline.Disk{Stack: stack("raw", "writeback", "threads"), Serial: "disk0", Path: path}, nil)
	if err != nil || e.Direct == nil || *e.Direct {
		t.Errorf("through the page cache: %+v, %v", e, err)
	}
	missing := cmdline.Disk{Stack: stack("raw", "writeback", "threads"), Serial: "disk0", Path: path + "-not"}
	if _, err := bench.Look(t.Context(), binary, missing, nil); err == nil || !strings.Contains(err.Error(), "No such file") {
		t.Errorf("a file that is not there: %v", err)
	}
	null := cmdline.Disk{Stack: stack("null-co", "writeback", "threads"), Serial: "disk0", Size: 1 << 20}
	if e, err := bench.Look(t.Context(), binary, null, nil); err != nil || e.Direct != nil {
		t.Errorf("no file: %+v, %v", e, err)
	}
}
