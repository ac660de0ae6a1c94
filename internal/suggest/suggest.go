// Package suggest finds the word that somebody meant who mistyped one.
package suggest

import "strings"

// longest is the most letters of a word that is worth a search: no name of ours is longer, and the distance costs
// its length squared.
const longest = 40

// Nearest returns the choice that word was perhaps meant to be, in any case of its letters: the first with the
// fewest slips among those that are within a third of their own length, "" when there is none.
func Nearest(word string, choices []string) string {
	w := []rune(strings.ToLower(word))
	if len(w) > longest {
		return ""
	}
	best, fewest := "", longest+1
	for _, c := range choices {
		letters := []rune(strings.ToLower(c))
		if d := distance(w, letters); d < fewest && d <= max(1, len(letters)/3) {
			best, fewest = c, d
		}
	}
	return best
}

// distance counts the insertions, deletions, replacements and swaps of neighbours that make b of a.
func distance(a, b []rune) int {
	var before, above []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, above, row = above, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
