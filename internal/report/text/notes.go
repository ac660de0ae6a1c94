package text

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// notes are the footnotes: one for each distinct text, numbered from 1 as they are met.
type notes struct {
	texts  []string
	number map[string]int
}

// mark returns the mark of several texts, "[1]" or "[1,3]", and "" for none. Empty texts have no note.
func (n *notes) mark(texts ...string) string {
	var numbers []int
	for _, text := range texts {
		if text = clean(text); text != "" {
			numbers = append(numbers, n.add(text))
		}
	}
	slices.Sort(numbers)
	return mark(slices.Compact(numbers)...)
}

func (n *notes) add(text string) int {
	if i, ok := n.number[text]; ok {
		return i
	}
	if n.number == nil {
		n.number = map[string]int{}
	}
	n.texts = append(n.texts, text)
	n.number[text] = len(n.texts)
	return len(n.texts)
}

func mark(numbers ...int) string {
	if len(numbers) == 0 {
		return ""
	}
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = strconv.Itoa(n)
	}
	return fmt.Sprintf("[%s]", strings.Join(words, ","))
}
