package html

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var custom = regexp.MustCompile(`--(\w+):#([0-9a-f]{6})`)

// palettes reads the custom properties of the light and of the dark page.
func palettes(t *testing.T) map[string]map[string]string {
	t.Helper()
	light, dark, ok := strings.Cut(style, "@media screen and (prefers-color-scheme:dark)")
	if !ok {
		t.Fatal("the style sheet has no dark part")
	}
	out := map[string]map[string]string{"light": {}, "dark": {}}
	for name, css := range map[string]string{"light": light, "dark": dark} {
		for _, m := range custom.FindAllStringSubmatch(css, -1) {
			out[name][m[1]] = m[2]
		}
	}
	return out
}

// luminance is WCAG's relative luminance of a colour of six hexadecimal digits.
func luminance(hex string) float64 {
	n, _ := strconv.ParseUint(hex, 16, 32)
	sum := 0.0
	for i, weight := range []float64{.0722, .7152, .2126} {
		c := float64(n>>(8*i)&255) / 255
		if c <= .04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

// TestContrast: every text meets WCAG AA (4.5 to 1) on every ground that it stands on, in both schemes.
func TestContrast(t *testing.T) {
	type pair struct{ text, ground string }
	pairs := []pair{{"warnink", "warnbg"}, {"accent", "soft"}, {"dim", "tie"}, {"dim", "none"}}
	for _, text := range []string{"ink", "dim", "accent", "alarm"} {
		pairs = append(pairs, pair{text, "bg"}, pair{text, "card"})
	}
	for _, ground := range []string{"h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8", "h9", "h10", "tie", "soft"} {
		pairs = append(pairs, pair{"ink", ground})
	}
	for i := range colours { // the names of stacks in drawings
		pairs = append(pairs, pair{colourClass(i), "card"}, pair{colourClass(i), "bg"})
	}
	for scheme, p := range palettes(t) {
		for _, c := range pairs {
			if p[c.text] == "" || p[c.ground] == "" {
				t.Errorf("%s: no colour %q or %q", scheme, c.text, c.ground)
				continue
			}
			a, b := luminance(p[c.text]), luminance(p[c.ground])
			if ratio := (max(a, b) + .05) / (min(a, b) + .05); ratio < 4.5 {
				t.Errorf("%s: %s on %s has a contrast of %.2f, want at least 4.5", scheme, c.text, c.ground, ratio)
			}
		}
	}
}

// TestLinesAreSeen: what is drawn stands out from every ground that it is drawn on (WCAG 1.4.11: 3 to 1).
func TestLinesAreSeen(t *testing.T) {
	for scheme, p := range palettes(t) {
		for i := range colours {
			name := colourClass(i)
			for _, ground := range []string{"card", "bg"} {
				if p[name] == "" {
					t.Fatalf("%s: no colour %q", scheme, name)
				}
				a, b := luminance(p[name]), luminance(p[ground])
				if ratio := (max(a, b) + .05) / (min(a, b) + .05); ratio < 3 {
					t.Errorf("%s: %s on %s has a contrast of %.2f, want at least 3", scheme, name, ground, ratio)
				}
			}
		}
	}
}
