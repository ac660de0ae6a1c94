package rig

import (
	"math"
	"testing"
	"time"
)

// What is not nil is the share, and what may be noise is nil.
func TestSkew(t *testing.T) {
	start := time.Now()
	for name, tt := range map[string]struct {
		guest, host, asked time.Duration
		want               float64
		unknown            bool
	}{
		"the same":                     {guest: time.Second, host: time.Second, asked: 100 * time.Microsecond},
		"a little faster":              {guest: 1010 * time.Millisecond, host: time.Second, asked: 100 * time.Microsecond, want: 0.01},
		"a little slower":              {guest: 990 * time.Millisecond, host: time.Second, asked: 100 * time.Microsecond, want: -0.01},
		"a little, asked on busy host": {guest: 1010 * time.Millisecond, host: time.Second, asked: 10 * time.Millisecond, unknown: true},
		"eight times, on a busy host":  {guest: 8 * time.Second, host: time.Second, asked: 100 * time.Millisecond, want: 7},
		"a busy host's answers alone":  {guest: 1500 * time.Millisecond, host: time.Second, asked: 500 * time.Millisecond, unknown: true},
		"no time between":              {guest: time.Second, unknown: true},
	} {
		last := reading{guest: time.Hour, host: start, asked: tt.asked}
		got := reading{guest: last.guest + tt.guest, host: start.Add(tt.host), asked: tt.asked}.skew(last)
		switch {
		case (got == nil) != tt.unknown:
			t.Errorf("%s: %v, want unknown: %v", name, got, tt.unknown)
		case got != nil && math.Abs(*got-tt.want) > 1e-9:
			t.Errorf("%s: %v, want %v", name, *got, tt.want)
		}
	}
}
