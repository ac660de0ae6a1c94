package meter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// arcstats of OpenZFS 2.1.11, cut short, and what 2.2 adds.
const (
	arc21 = `12 1 0x01 123 33456 20352373729 53969952438
name                            type data
hits                            4    23765
misses                          4    12
demand_data_hits                4    98
demand_data_misses              4    7
demand_metadata_hits            4    23666
prefetch_data_hits              4    2
prefetch_data_misses            4    5
size                            4    122750592
memory_free_bytes               3    -4096
abd_chunk_waste_size            4    18446744073709551104
`
	iohits22 = "demand_data_iohits              4    30\nprefetch_data_iohits            4    1\n"
)

// withARC writes a host whose ZFS counts this; "" stands for a host without ZFS.
func withARC(t *testing.T, text string) Meter {
	t.Helper()
	m := host(t, modern, modern, "cpu 0 0 0 0 0 0 0 0\n")
	if text == "" {
		return m
	}
	path := filepath.Join(m.Root, arcStats)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestARC(t *testing.T) {
	for text, want := range map[string]*ARC{
		"":               nil,
		arc21:            {Hits: 100, Misses: 12, Size: 122750592},
		arc21 + iohits22: {Hits: 100, Misses: 43, Size: 122750592},
		"1 1\nname type data\nhits 4 3\nmisses 4 1\n": nil,
	} {
		if diff := cmp.Diff(want, snapshot(t, withARC(t, text)).ARC); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	for _, bad := range []string{"x", "1 1\nhits 4 3\n", strings.Replace(arc21, "98", "many", 1), arc21 + "short 4\n"} {
		if s, err := withARC(t, bad).Snapshot(); err == nil {
			t.Errorf("took %q: %+v", bad, s.ARC)
		}
	}
}

func TestKstatNumbers(t *testing.T) {
	got, err := parseKstat("1 1\nname type data\ni32 1 -1\nu32 2 7\ni64 3 -9\nu64 4 18446744073709551104\nchar 0 x\nstring 7 a b\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int64{"i32": -1, "u32": 7, "i64": -9, "u64": -512}, got); diff != "" {
		t.Error(diff)
	}
}

func TestARCDelta(t *testing.T) {
	before := &ARC{Hits: 100, Misses: 12, Size: 5}
	for _, tt := range []struct{ now, earlier, want *ARC }{
		{nil, nil, nil},
		{before, nil, nil},
		{nil, before, nil},
		{&ARC{Hits: 130, Misses: 12, Size: 4}, before, &ARC{Hits: 30, Size: 4}},
		{&ARC{Hits: 99, Misses: 13}, before, nil}, // the module was loaded anew
		{&ARC{Hits: 101, Misses: 11}, before, nil},
	} {
		a, b := snapshot(t, withARC(t, "")), snapshot(t, withARC(t, ""))
		a.ARC, b.ARC = tt.earlier, tt.now
		d, err := b.Sub(a)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, d.ARC); diff != "" {
			t.Errorf("%+v after %+v: %s", tt.now, tt.earlier, diff)
		}
	}
}

func TestBusyCPUs(t *testing.T) {
	d := Delta{Elapsed: 2 * time.Second, All: CPU{Busy: 3 * time.Second, Idle: 5 * time.Second}}
	if got := d.BusyCPUs(); got != 1.5 {
		t.Errorf("%v CPUs were busy, want 1.5", got)
	}
	if got := (Delta{}).BusyCPUs(); got != 0 {
		t.Errorf("%v CPUs were busy in no time", got)
	}
}

func FuzzKstat(f *testing.F) {
	f.Add(arc21)
	f.Add("1\nname type data\nx 1 99999999999999999999\n")
	f.Fuzz(func(t *testing.T, text string) {
		named, err := parseKstat(text)
		if (named == nil) == (err == nil) {
			t.Errorf("%v, %v", named, err)
		}
	})
}
