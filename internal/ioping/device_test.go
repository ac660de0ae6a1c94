package ioping

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	diskSize = 24 << 20
	begin    = 4 << 20 // of the range that a load may touch
	length   = 16 << 20
)

// disk makes a file of zeros and a loop device on it.
func disk(t *testing.T) (file, device string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(file, make([]byte, diskSize), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("losetup", "--find", "--show", file).Output()
	if err != nil {
		t.Skipf("no loop device here: %v", err)
	}
	device = strings.TrimSpace(string(out))
	t.Cleanup(func() {
		if out, err := exec.Command("losetup", "--detach", device).CombinedOutput(); err != nil {
			t.Errorf("losetup --detach %s: %v: %s", device, err, out)
		}
	})
	return file, device
}

// run runs the real ioping and returns what it printed.
func run(t *testing.T, ioping string, o Options) ([]byte, error) {
	t.Helper()
	args, err := o.Args()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return exec.CommandContext(ctx, ioping, args...).CombinedOutput()
}

// The six tests of a comparison of disk controllers (ten requests: 4 KiB and 1 MiB at random, 4 MiB in sequence, reads
// and writes), in a range of a device and of a file: each must run, stay within its range, and write only when told to.
func TestRealDevice(t *testing.T) {
	ioping, err := exec.LookPath("ioping")
	if err != nil {
		t.Skip("ioping is not installed")
	}
	file, device := disk(t)
	for _, write := range []bool{false, true} { // reads first: until then every byte is zero
		for _, size := range []int64{4 << 10, 1 << 20, 4 << 20} {
			for _, target := range []string{device, file} {
				for _, direct := range []bool{false, true} {
					o := Options{
						Target: target, Count: 10, Size: size, Offset: begin, WorkSize: length, NoInterval: true,
						Linear: size == 4<<20, Destroy: write, Direct: direct, Format: JSON,
					}
					t.Run(fmt.Sprintf("%s-%d-write=%v-direct=%v", filepath.Base(filepath.Dir(target)), size>>10, write, direct), func(t *testing.T) {
						out, err := run(t, ioping, o)
						if direct && strings.Contains(string(out), "O_DIRECT") {
							t.Skipf("no direct I/O here: %s", out)
						}
						if err != nil {
							t.Fatalf("%v\n%s", err, out)
						}
						checkRequests(t, o, out)
						checkBytes(t, o, file)
					})
				}
			}
		}
	}
}

// checkRequests holds what ioping says it did to what it was told.
func checkRequests(t *testing.T, o Options, out []byte) {
	t.Helper()
	r, err := Parse(out)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if r.Count != o.Count-1 || r.Load.Count != o.Count || r.Bytes != r.Count*o.Size || len(r.Requests) != int(o.Count) {
		t.Errorf("%d of %d requests, %d bytes, %d listed\n%s", r.Count, r.Load.Count, r.Bytes, len(r.Requests), out)
	}
	if !r.Requests[0].Ignored || r.Requests[1].Ignored {
		t.Errorf("the first request is no warm-up, or the second is\n%s", out)
	}
	for _, q := range r.Requests {
		if want := map[bool]string{false: "read", true: "write"}[o.Destroy]; q.Operation != want || q.Size != o.Size {
			t.Errorf("request %d: %s of %d bytes, want %s of %d", q.Index, q.Operation, q.Size, want, o.Size)
		}
	}
}

// checkBytes holds the file under the device to the range: zeros around it, and in it as long as nothing was written.
func checkBytes(t *testing.T, o Options, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !zero(data[:begin]) || !zero(data[begin+length:]) {
		t.Error("bytes outside of the range were written")
	}
	if zero(data[begin:begin+length]) == o.Destroy {
		t.Errorf("the range is all zeros: %v", o.Destroy)
	}
}

func zero(data []byte) bool { return bytes.Count(data, []byte{0}) == len(data) }

// ioping itself refuses to write over a device or a file for less than -WWW, and what does not fit.
func TestRealRefusals(t *testing.T) {
	ioping, err := exec.LookPath("ioping")
	if err != nil {
		t.Skip("ioping is not installed")
	}
	file, device := disk(t)
	for name, tt := range map[string]struct {
		opts Options
		want string
	}{
		"device":   {Options{Target: device, Count: 2, Write: true}, "think twice"},
		"file":     {Options{Target: file, Count: 2, Write: true}, "think twice"},
		"past end": {Options{Target: device, Count: 2, Offset: diskSize - 4096, WorkSize: 8192}, "too small"},
		"too big":  {Options{Target: device, Count: 2, Offset: diskSize - 4096, Size: 8192}, "too big"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := run(t, ioping, tt.opts)
			if err == nil {
				t.Fatalf("ioping agreed:\n%s", out)
			}
			var none *NoResultError
			if _, err := Parse(out); !errors.As(err, &none) || none.Truncated || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want one with %q", err, tt.want)
			}
			if data, err := os.ReadFile(file); err != nil || !zero(data) {
				t.Errorf("it wrote all the same (%v)", err)
			}
		})
	}
}
