package html

import (
	"math"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

func TestFixed(t *testing.T) {
	for _, tc := range []struct {
		v        float64
		decimals int
		want     string
	}{
		{0, 0, "0"},
		{1234, 0, "1234"},
		{12345, 0, "12" + thin + "345"},
		{-1.25, 1, minus + "1.2"},
		{-0.01, 1, "0.0"},
		{1234567.891, 2, "1" + thin + "234" + thin + "567.89"},
		{math.NaN(), 0, none},
		{math.Inf(1), 0, none},
	} {
		if got := fixed(tc.v, tc.decimals); got != tc.want {
			t.Errorf("fixed(%v, %d) = %q, want %q", tc.v, tc.decimals, got, tc.want)
		}
	}
}

func TestEstimates(t *testing.T) {
	plain := func(f func(stat.Estimate) (string, string)) func(stat.Estimate) string {
		return func(e stat.Estimate) string {
			v, i := f(e)
			return strings.ReplaceAll(v+" | "+i, thin, " ")
		}
	}
	share, change, speed := plain(shareOf), plain(changeOf), plain(faster)
	for _, tc := range []struct {
		f    func(stat.Estimate) string
		e    stat.Estimate
		want string
	}{
		{share, stat.Estimate{Value: .372, Low: .34, High: .4}, "37 % | 34–40"},
		{share, stat.Estimate{Value: .222, Low: .218, High: .226}, "22.2 % | 21.8–22.6"},
		{change, stat.Estimate{Value: 1.4, Low: 1.31, High: 1.5}, "+40 % | +31 to +50 %"},
		{change, stat.Estimate{Value: 1, Low: .97, High: 1.02}, "0 % | −3 to +2 %"},
		{speed, stat.Estimate{Value: 1.4, Low: 1.31, High: 1.5}, "40 % faster | 31–50"},
		{speed, stat.Estimate{Value: .8, Low: .75, High: .84}, "20 % slower | 16–25"},
	} {
		if got := tc.f(tc.e); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.e, got, tc.want)
		}
	}
}

// TestSharpen: a figure has the decimals of its narrowest interval, no more.
func TestSharpen(t *testing.T) {
	for _, tc := range []struct {
		e    stat.Estimate
		want string
	}{
		{stat.Estimate{Value: 666200, Low: 644000, High: 688400}, "666"},
		{stat.Estimate{Value: 43900, Low: 43500, High: 44300}, "43.9"},
		{stat.Estimate{Value: 43900, Low: 43900, High: 43900}, "43.9"},
		{stat.Estimate{Value: 43912.3456, Low: 43912.3455, High: 43912.3457}, "43.912"},
	} {
		if got := scaled(sharpen(unit.LatencyScale(tc.e.Value), tc.e), tc.e.Value); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.e, got, tc.want)
		}
	}
}

func TestCommands(t *testing.T) {
	for _, tc := range []struct {
		preset, want string
	}{
		{"default", "iotax run --preset default --seed 41"},
		{"lab.yaml", "iotax run -f lab.yaml --seed 41"},
		{"/srv/my lab", "iotax run -f '/srv/my lab' --seed 41"},
		{"it's", `iotax run --preset 'it'\''s' --seed 41`},
	} {
		if got := reproduce(record.Run{Preset: tc.preset, Seed: 41}); got != tc.want {
			t.Errorf("%q: %s, want %s", tc.preset, got, tc.want)
		}
	}
	got := argv([]string{"qemu", "-M", "q35", "-append", "console=ttyS0 quiet", ""})
	if want := "qemu \\\n  -M q35 \\\n  -append 'console=ttyS0 quiet' ''"; got != want {
		t.Errorf("argv: %s, want %s", got, want)
	}
}

// TestAxis: what lies inside is drawn inside, in order, and ticks keep their distance.
func TestAxis(t *testing.T) {
	a := newAxis([]float64{.5, 1, 4, math.NaN(), -3, 0}, 10, 110)
	if l, m, r := a.at(.5), a.at(1), a.at(4); !(10 <= l && l < m && m < r && r <= 110) {
		t.Errorf("positions %v %v %v", l, m, r)
	}
	if v := a.at(0); finite(v) {
		t.Errorf("0 lies at %v on a log axis", v)
	}
	for _, ticks := range [][]tick{a.changes(30), newAxis([]float64{4e4, 3e9}, 10, 110).latencies(30)} {
		if len(ticks) < 2 {
			t.Errorf("only %d ticks", len(ticks))
		}
		for i, p := range ticks {
			for _, q := range ticks[:i] {
				if math.Abs(p.X-q.X) < 30 {
					t.Errorf("ticks %v and %v are too close", p, q)
				}
			}
		}
	}
	if e := newAxis(nil, 0, 10).at(1); !finite(e) {
		t.Errorf("an empty axis puts 1 at %v", e)
	}
}
