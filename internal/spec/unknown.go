package spec

import (
	"fmt"
	"strings"

	"github.com/iotax/iotax/internal/suggest"
)

// unknown says that word is none of choices: with the nearest one where a slip of the keyboard explains
// it, else with the whole list.
func unknown(what, word string, choices []string) string {
	if near := suggest.Nearest(word, choices); near != "" {
		return fmt.Sprintf("unknown %s %q; did you mean %q?", what, clip(word), near)
	}
	return fmt.Sprintf("unknown %s %q; expected one of %s", what, clip(word), strings.Join(choices, ", "))
}

// clip keeps a quoted piece of input short enough for one line.
func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "..."
	}
	return s
}
