package unit

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestParseBytes(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "4096": 4096, "4k": 4096, "4K": 4096, "4KiB": 4096, "1g": 1 << 30, "512MiB": 512 << 20,
		"512 MiB": 512 << 20, " 2t ": 2 << 40, "1.5g": 3 << 29, "0.5k": 512, "7b": 7, "7 B": 7,
		"9223372036854775807": math.MaxInt64, "7eib": 7 << 60, "1p": 1 << 50,
	} {
		got, err := ParseBytes(in)
		if err != nil || got != want {
			t.Errorf("ParseBytes(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
}

func TestParseBytesFaults(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "expected bytes such as",
		"-1":                      "is negative",
		"-4k":                     "is negative",
		"1GB":                     "is ambiguous; write GiB",
		"1kb":                     "is ambiguous; write KiB",
		"1x":                      "unknown unit",
		"1ib":                     "unknown unit",
		"1kibi":                   "unknown unit",
		"0.3k":                    "not a whole number of bytes",
		"8e":                      "too large",
		"9223372036854775808":     "too large",
		"1e9":                     "not a size",
		"0x10":                    "not a size",
		"1,5g":                    "not a size",
		"1/2g":                    "not a size",
		"1  k":                    "not a size",
		"²k":                      "not a size",
		"k":                       "not a size",
		".5k":                     "not a size",
		"NaN":                     "not a size",
		strings.Repeat("9", 1000): "not a size",
	} {
		got, err := ParseBytes(in)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 200 {
			t.Errorf("ParseBytes(%q) = %d, %v; want an error with %q", in, got, err, want)
		}
	}
}

// TestPart: a share whose interval is wider than the whole says at most on which side of nothing it lies.
func TestPart(t *testing.T) {
	for want, in := range map[string][3]float64{
		"62 % ± 9":         {0.62, 0.54, 0.71},
		"150 % ± 50":       {1.5, 1, 2},
		"50 % ± 50":        {0.5, 0, 1},
		"~":                {0.5, -0.01, 1},
		"more than 140 %":  {3, 1.4, 41},
		"more than 1000 %": {90, 30, 900},
		"less than -40 %":  {-2, -40, -0.4},
		"50 %":             {0.5, math.Inf(-1), math.Inf(1)},
		"-":                {math.NaN(), math.NaN(), math.NaN()},
	} {
		if got := Part(in[0], in[1], in[2]); got != want {
			t.Errorf("Part%v = %q, want %q", in, got, want)
		}
	}
}

func TestVaguely(t *testing.T) {
	for want, in := range map[string][3]float64{
		"":                   {10, 60, 50},
		"~":                  {-10, 60, 50},
		"more than 10.0 us":  {1e4, 1e6, 5e4},
		"less than -10.0 us": {-1e6, -1e4, 5e4},
	} {
		if got := Vaguely(in[0], in[1], in[2], Latency); got != want {
			t.Errorf("Vaguely%v = %q, want %q", in, got, want)
		}
	}
}

func TestMultiple(t *testing.T) {
	for want, in := range map[string][3]float64{
		"1.6 times (1.5 to 1.7)":  {1.6, 1.5, 1.7},
		"5.0 times (1.0 to 10.0)": {5, 1, 10},
		"more than 2.0 times":     {180, 2, 9000},
	} {
		if got := Multiple(in[0], in[1], in[2]); got != want {
			t.Errorf("Multiple%v = %q, want %q", in, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 37: "37 B", 1000: "1000 B", 1023: "1023 B", 1024: "1.0 KiB", 6 << 30: "6.0 GiB", 512 << 20: "512 MiB",
		24 << 30: "24 GiB", 10<<20 - 1: "10 MiB", 1<<20 - 1: "1.0 MiB", math.MaxInt64: "8.0 EiB", -(4 << 10): "-4.0 KiB",
		math.MinInt64: "-0 B",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64][2]string{
		0: {"0 B", "0"}, 4096: {"4 KiB", "4k"}, 1500: {"1500 B", "1500"}, 512 << 20: {"512 MiB", "512m"}, 1536 << 20: {"1536 MiB", "1536m"},
	} {
		if got := [2]string{ExactBytes(n), FioBytes(n)}; got != want {
			t.Errorf("ExactBytes, FioBytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 900: "900 ns", 1500: "2 us", 350 * time.Millisecond: "350 ms", 999_600 * time.Microsecond: "1.0 s",
		2400 * time.Millisecond: "2.4 s", 9960 * time.Millisecond: "10 s", 40 * time.Second: "40 s", 59_700 * time.Millisecond: "1 min",
		220 * time.Second: "3 min 40 s", 180 * time.Second: "3 min", 3599_900 * time.Millisecond: "1 h", 65 * time.Minute: "1 h 5 min",
		-2 * time.Second: "-2.0 s", math.MinInt64: "-0 s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%d) = %q, want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0:00", -time.Second: "0:00", 5 * time.Second: "0:05", 72 * time.Second: "1:12", 3723 * time.Second: "1:02:03",
	} {
		if got := Clock(d); got != want {
			t.Errorf("Clock(%d) = %q, want %q", d, got, want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"1s": time.Second, "500ms": 500 * time.Millisecond, "2m50s": 170 * time.Second, "3 min 40 s": 220 * time.Second,
		"1.5S": 1500 * time.Millisecond, "0s": 0, "1 h 5 min": 65 * time.Minute, " 7us ": 7 * time.Microsecond,
	} {
		if got, err := ParseDuration(in); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "5", "-1s", "s", "1d", "1 0 s", "1s,", "1e3s", "999999999h", "+1s", strings.Repeat("1", 999)} {
		if got, err := ParseDuration(in); err == nil || len(err.Error()) > 200 {
			t.Errorf("ParseDuration(%q) = %v, %v; want a short error", in, got, err)
		}
	}
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		scale  Scale
		values []float64
		want   []string
	}{
		{IOPSScale(19100, 78400, 2130), []float64{19100, 78400, 2130}, []string{"19.1k", "78.4k", "2.1k"}},
		{IOPSScale(950, 12), []float64{950, 12}, []string{"950", "12"}},
		{IOPSScale(3.2), []float64{3.2}, []string{"3.2"}},
		{IOPSScale(999_950), []float64{999_950}, []string{"1.00M"}},
		{LatencyScale(224_600, 3_730_000), []float64{224_600, 3_730_000, math.NaN()}, []string{"0.22 ms", "3.73 ms", "-"}},
		{LatencyScale(224_600, 347_200), []float64{224_600, 347_200}, []string{"224.6 us", "347.2 us"}},
		{LatencyScale(850), []float64{850}, []string{"850 ns"}},
		{BandwidthScale(1.356e9, 98e6), []float64{1.356e9, 98e6, 0}, []string{"1.356 GB/s", "0.098 GB/s", "0.000 GB/s"}},
		{IOPSScale(), []float64{0}, []string{"0"}},
		{IOPSScale(0, math.NaN(), math.Inf(1)), []float64{0, math.Inf(1)}, []string{"0", "-"}},
	} {
		for i, v := range c.values {
			if got := c.scale.Format(v); got != c.want[i] {
				t.Errorf("%+v.Format(%v) = %q, want %q", c.scale, v, got, c.want[i])
			}
		}
	}
	if got := []string{IOPS(19100), Bandwidth(523e6), Latency(224_600)}; strings.Join(got, "|") != "19.1k|523.0 MB/s|224.6 us" {
		t.Errorf("single values: %q", got)
	}
}

func TestShareAndChange(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		v, low, high  float64
		share, change string
	}{
		{0.22, 0.21, 0.23, "22 % ± 1", "-78 % (-79 to -77)"},
		{1.40, 1.31, 1.50, "140 % ± 10", "+40 % (31 to 50)"},
		{0.994, 0.991, 0.996, "99.4 % ± 0.3", "-0.6 % (-0.9 to -0.4)"},
		{1, 0.9998, 1.0001, "100.00 % ± 0.02", "+0.00 % (-0.02 to 0.01)"},
		{1, 0.98, 1.02, "100 % ± 2", "+0 % (-2 to 2)"},
		{1, 1, 1, "100 % ± 0", "+0 % (0 to 0)"},
		{0.3, 0.05, 0.9, "30 % ± 60", "-70 % (-95 to -10)"},
		{0.3, nan, nan, "30 %", "-70 %"},
		{nan, 0, 1, "-", "-"},
	} {
		if got := Share(c.v, c.low, c.high); got != c.share {
			t.Errorf("Share(%v, %v, %v) = %q, want %q", c.v, c.low, c.high, got, c.share)
		}
		if got := Change(c.v, c.low, c.high); got != c.change {
			t.Errorf("Change(%v, %v, %v) = %q, want %q", c.v, c.low, c.high, got, c.change)
		}
	}
}

func TestTimes(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		v, low, high float64
		want         string
	}{
		{1.38, 1.34, 1.42, "1.38x ± 0.04"},
		{2.04, 1.8, 2.2, "2.0x ± 0.2"},
		{12, 10, 14.2, "12x ± 2"},
		{0.9981, 0.9975, 0.9987, "1.00x ± 0.00"},
		{1, 1, 1, "1.00x ± 0.00"},
		{1.5, nan, nan, "1.50x"},
		{nan, 0, 1, "-"},
	} {
		if got := Times(c.v, c.low, c.high); got != c.want {
			t.Errorf("Times(%v, %v, %v) = %q, want %q", c.v, c.low, c.high, got, c.want)
		}
	}
}

func FuzzBytes(f *testing.F) {
	for _, s := range []string{"512MiB", "1g", "4k", "1GB", "0.5k", "-1", "9223372036854775807", "8e", "1.5 GiB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseBytes(s)
		if err != nil {
			return
		}
		if n < 0 {
			t.Fatalf("ParseBytes(%q) = %d", s, n)
		}
		for _, form := range []string{ExactBytes(n), FioBytes(n)} {
			if back, err := ParseBytes(form); err != nil || back != n {
				t.Fatalf("%d prints as %q, which reads as %d, %v", n, form, back, err)
			}
		}
		// What Bytes prints is rounded to two digits: within 6 % of n. Above 7.9 EiB it may round to
		// 8.0 EiB, which is out of range.
		if back, err := ParseBytes(Bytes(n)); n < 7<<60 && (err != nil && !strings.Contains(err.Error(), "whole") || err == nil && math.Abs(float64(back-n)) > 0.06*float64(n)) {
			t.Fatalf("%d prints as %q, which reads as %d, %v", n, Bytes(n), back, err)
		}
	})
}

func FuzzDuration(f *testing.F) {
	for _, s := range []string{"1s", "2m50s", "3 min 40 s", "5", "-1s", "1.5h", "999999999h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDuration(s)
		if err != nil {
			return
		}
		back, err := ParseDuration(Duration(d))
		if err != nil || math.Abs(float64(back-d)) > 0.06*float64(d)+1 {
			t.Fatalf("%q is %d, prints as %q, reads as %d, %v", s, d, Duration(d), back, err)
		}
	})
}
