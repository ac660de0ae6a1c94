package html

// notes numbers footnotes: one text has one number, wherever it is called.
type notes struct {
	texts   []string
	numbers map[string]int
}

// mark returns the numbers of the texts, in their order; empty texts have none.
func (n *notes) mark(texts ...string) []int {
	var out []int
	for _, t := range texts {
		if t == "" {
			continue
		}
		if n.numbers == nil {
			n.numbers = map[string]int{}
		}
		if n.numbers[t] == 0 {
			n.texts = append(n.texts, t)
			n.numbers[t] = len(n.texts)
		}
		out = append(out, n.numbers[t])
	}
	return out
}
