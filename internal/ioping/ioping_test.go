package ioping

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestArgs(t *testing.T) {
	tests := map[string]struct {
		opts Options
		want string
	}{
		"count":        {Options{Target: "/srv", Count: 5}, "-c 5 -- /srv"},
		"quick":        {Options{Target: "f", Count: 20, NoInterval: true, Quiet: true, Format: JSON}, "-q -J -c 20 -i 0 -- f"},
		"rapid linear": {Options{Target: "f", Rapid: true, Linear: true, Direct: true, Format: Batch}, "-D -R -L -B -- f"},
		"write":        {Options{Target: ".", Count: 1, Write: true, Sync: true, DSync: true}, "-Y -y -W -c 1 -- ."},
		"destroy":      {Options{Target: "/dev/x", Count: 1, Write: true, Destroy: true}, "-WWW -c 1 -- /dev/x"},
		"all numbers": {
			Options{Target: "-f", Count: 1, Size: 512, WorkSize: 1 << 20, Offset: 4096, Interval: 1500 * time.Microsecond, Time: time.Second, Period: 7, Seed: 9, Cached: true},
			"-C -c 1 -s 512 -S 1048576 -o 4096 -i 1500us -w 1000000us -p 7 -e 9 -- -f",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tt.opts.Args()
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(strings.Fields(tt.want), got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func TestArgsFaults(t *testing.T) {
	tests := map[string]struct {
		opts Options
		want []string
	}{
		"empty":       {Options{}, []string{"no target", "needs a count or a time"}},
		"negative":    {Options{Target: "f", Count: -1, Interval: -1}, []string{"counts and sizes", "times"}},
		"too large":   {Options{Target: "f", Count: 1, Size: 8192, WorkSize: 4096}, []string{"size 8192 is larger"}},
		"default":     {Options{Target: "f", Count: 1, Linear: true, WorkSize: 4096}, []string{"size 262144 is larger"}},
		"odd direct":  {Options{Target: "f", Count: 1, Direct: true, Size: 1000}, []string{"direct I/O of 1000 bytes at 0"}},
		"odd offset":  {Options{Target: "f", Count: 1, Direct: true, Offset: 100}, []string{"direct I/O of 4096 bytes at 100"}},
		"both":        {Options{Target: "f", Count: 1, Interval: 1, NoInterval: true}, []string{"none at all"}},
		"odd format":  {Options{Target: "f", Count: 1, Format: "-X"}, []string{`unknown format "-X"`}},
		"no end":      {Options{Target: "f", Linear: true}, []string{"needs a count or a time"}},
		"no end at 0": {Options{Target: "f", NoInterval: true}, []string{"needs a count or a time"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			args, err := tt.opts.Args()
			if err == nil {
				t.Fatalf("got %v and no error", args)
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(tt.want) {
				t.Fatalf("%d faults, want %d:\n%v", len(lines), len(tt.want), err)
			}
			for i, want := range tt.want {
				if !strings.Contains(lines[i], want) {
					t.Errorf("fault %q, want %q", lines[i], want)
				}
			}
		})
	}
}

// The real ioping must take our arguments, and its output must say what we asked for, in every format.
func TestRealIoping(t *testing.T) {
	ioping, err := exec.LookPath("ioping")
	if err != nil {
		t.Skip("ioping is not installed")
	}
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, bytes.Repeat([]byte{1, 2, 3, 4}, 1<<18), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, format := range []Format{Plain, Batch, JSON} {
		t.Run("format"+string(format), func(t *testing.T) {
			args, err := Options{Target: path, Count: 6, Size: 512, NoInterval: true, Seed: 3, Format: format}.Args()
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			out, err := exec.CommandContext(ctx, ioping, args...).CombinedOutput()
			if err != nil {
				t.Fatalf("ioping %v: %v\n%s", args, err, out)
			}
			r, err := Parse(out)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if r.Count != 5 || r.Load.Count != 6 || r.Bytes != 5*512 { // one is the warm-up
				t.Errorf("%d of %d requests, %d B; want 5 of 6, 2560 B\n%s", r.Count, r.Load.Count, r.Bytes, out)
			}
			if !(0 < r.Min && r.Min <= r.Avg && r.Avg <= r.Max && r.Max <= r.Load.TimeNS*1.01) {
				t.Errorf("min %v, avg %v, max %v in %v ns\n%s", r.Min, r.Avg, r.Max, r.Load.TimeNS, out)
			}
		})
	}
}
