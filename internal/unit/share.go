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
