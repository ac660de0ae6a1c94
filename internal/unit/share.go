package unit

import (
	"fmt"
	"math"
)

// Share prints a ratio with its interval as a share: 0.22 from 0.21 to 0.23 is "22 % ± 1". The half-width
// is the longer side of the interval, and neither number has more decimals than the half-width deserves.
// Without a finite value it prints "-", without a finite interval only the value.
func Share(value, low, high float64) string {
	if !finite(value) {
		return "-"
	}
	half := 100 * max(value-low, high-value)
	if !finite(low) || !finite(high) {
		return fmt.Sprintf("%.0f %%", 100*value)
	}
	d := decimals(half)
	return fmt.Sprintf("%.*f %% ± %.*f", d, 100*value, d, half)
}

// Part is Share for a part of a whole that may be hardly known: see Vaguely.
func Part(value, low, high float64) string {
	if words := VaguePart(low, high); words != "" {
		return words
	}
	return Share(value, low, high)
}

// VaguePart is Vaguely for a share of a whole: "more than 240 %", and no more than 1000.
func VaguePart(low, high float64) string {
	return Vaguely(low, high, 1, func(v float64) string { return fmt.Sprintf("%.0f %%", 100*min(max(v, -10), 10)) })
}

// Vaguely says what is still known of a part whose interval is wider than the whole, in whatever unit print writes: "more than
// 3 us" or "less than -3 us" where its sign is certain, else "~". It is "" for a narrower interval, which can be printed, and
// for one that is not finite.
func Vaguely(low, high, whole float64, print func(float64) string) string {
	switch {
	case !finite(high-low) || high-low <= whole:
		return ""
	case low > 0:
		return "more than " + print(low)
	case high < 0:
		return "less than " + print(high)
	}
	return "~"
}

// Change prints a ratio with its interval as a change: 1.40 from 1.31 to 1.50 is "+40 % (31 to 50)".
func Change(value, low, high float64) string {
	if !finite(value) {
		return "-"
	}
	if !finite(low) || !finite(high) {
		return fmt.Sprintf("%+.0f %%", percent(value))
	}
	d := decimals(100 * max(value-low, high-value))
	return fmt.Sprintf("%+.*f %% (%.*f to %.*f)", d, percent(value), d, percent(low), d, percent(high))
}

// Times prints a ratio with its interval as a multiple: 1.38 from 1.34 to 1.42 is "1.38x ± 0.04". Rounding is as in Share,
// two decimals at most.
func Times(value, low, high float64) string {
	if !finite(value) {
		return "-"
	}
	if !finite(low) || !finite(high) {
		return fmt.Sprintf("%.2fx", value)
	}
	half := max(value-low, high-value)
	d := 2
	if half > 0 {
		d = decimals(half)
	}
	return fmt.Sprintf("%.*fx ± %.*f", d, value, d, half)
}

// Multiple words a ratio above 0: 1.6 from 1.5 to 1.7 is "1.6 times (1.5 to 1.7)". Where the ends of the interval are more than
// a factor of ten apart only the lower one says something: "more than 1.5 times".
func Multiple(value, low, high float64) string {
	if high > 10*low {
		return fmt.Sprintf("more than %.1f times", low)
	}
	return fmt.Sprintf("%.1f times (%.1f to %.1f)", value, low, high)
}

// percent is the change that a ratio stands for, without the negative zero that prints as "-0".
func percent(ratio float64) float64 {
	p := 100*ratio - 100
	if math.Abs(p) < 0.005 {
		return 0
	}
	return p
}

// decimals is how many decimals a half-width deserves: its first digit, two at most.
func decimals(half float64) int {
	switch {
	case half >= 0.95 || half <= 0:
		return 0
	case half >= 0.095:
		return 1
	}
	return 2
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
