package jsonout

import "math"

// number is nil for what JSON has no word for.
func number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// list maps f over in; the result is never nil.
func list[A, B any](in []A, f func(A) B) []B {
	out := make([]B, len(in))
	for i, v := range in {
		out[i] = f(v)
	}
	return out
}

// all copies in; the result is never nil.
func all(in []string) []string { return append([]string{}, in...) }

// merge joins lists without repeating a text.
func merge(lists ...[]string) []string {
	out, seen := []string{}, map[string]bool{}
	for _, l := range lists {
		for _, text := range l {
			if !seen[text] {
				seen[text] = true
				out = append(out, text)
			}
		}
	}
	return out
}
