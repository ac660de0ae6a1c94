package unit

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

var durationForm = regexp.MustCompile(`^(?:\d{1,12}(?:\.\d{1,9})? ?(?:h|min|m|s|ms|us|µs|ns) ?)+$`)

// ParseDuration reads a time with its unit: "500ms", "1s", "2m50s", and what Duration prints ("3 min 40 s").
// A bare number is refused, since nobody can tell its unit. Errors say what was expected.
func ParseDuration(s string) (time.Duration, error) {
	text := strings.ToLower(strings.TrimSpace(s))
	if strings.HasPrefix(text, "-") {
		return 0, fmt.Errorf("%q is negative; expected a time such as 1s or 12m30s", clip(s))
	}
	if !durationForm.MatchString(text) {
		return 0, fmt.Errorf("%q is not a time; expected a number with a unit such as 500ms, 1s or 12m30s", clip(s))
	}
	d, err := time.ParseDuration(strings.NewReplacer(" ", "", "min", "m").Replace(text))
	if err != nil {
		return 0, fmt.Errorf("%q is too long; the most is about 292 years", clip(s))
	}
	return d, nil
}

// Duration prints d for a person: "350 ms", "2.4 s", "40 s", "3 min 40 s", "1 h 5 min".
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Duration(max(-d, 0)) // the one duration without a positive twin prints as 0
	case d == 0:
		return "0 s"
	case d < time.Microsecond:
		return fmt.Sprintf("%d ns", d)
	case d.Round(time.Microsecond) < time.Millisecond:
		return fmt.Sprintf("%d us", d.Round(time.Microsecond).Microseconds())
	case d.Round(time.Millisecond) < time.Second:
		return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
	case d.Round(100*time.Millisecond) < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	s := int64(d.Round(time.Second) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return pair(s/60, "min", s%60, "s")
	}
	m := int64(d.Round(time.Minute) / time.Minute)
	return pair(m/60, "h", m%60, "min")
}

// pair prints two neighbouring units, the smaller one only where it is not zero.
func pair(big int64, bigUnit string, small int64, smallUnit string) string {
	if small == 0 {
		return fmt.Sprintf("%d %s", big, bigUnit)
	}
	return fmt.Sprintf("%d %s %d %s", big, bigUnit, small, smallUnit)
}

// Clock prints a countdown: "0:05", "1:12", "1:02:03". What is overdue is "0:00".
func Clock(d time.Duration) string {
	s := int64(max(d, 0).Round(time.Second) / time.Second)
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
