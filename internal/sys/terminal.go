package sys

import "github.com/charmbracelet/x/term"

// DefaultWidth is the number of columns where there is no terminal to ask.
const DefaultWidth = 100

// file is what a stream with a descriptor offers; a buffer of a test does not.
type file interface{ Fd() uintptr }

func isTerminal(stream any) bool {
	f, ok := stream.(file)
	return ok && term.IsTerminal(f.Fd())
}

func width(stream any) int {
	f, ok := stream.(file)
	if !ok {
		return DefaultWidth
	}
	if columns, _, err := term.GetSize(f.Fd()); err == nil && columns > 0 {
		return columns
	}
	return DefaultWidth
}
