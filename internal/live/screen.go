package live

import (
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// printer writes lines to keep and, where it can, a live part below them.
type printer interface {
	print(kept, live []string, columns int) error
}

// lines is a printer of kept lines only.
type lines struct{ out io.Writer }

func (p lines) print(kept, _ []string, _ int) error {
	if len(kept) == 0 {
		return nil
	}
	_, err := io.WriteString(p.out, strings.Join(kept, "\n")+"\n")
	return err
}

// screen is a terminal. Between two frames the cursor stands at the start of the row below the live part.
type screen struct {
	out     io.Writer
	drawn   []string
	columns int // when they were drawn
}

// print replaces the live part and puts the kept lines above it, in one write. A frame that is the same as the
// last one writes nothing; any other is drawn whole, since what the user types meanwhile moves the cursor.
func (s *screen) print(kept, live []string, columns int) error {
	resized := columns != s.columns
	if len(kept) == 0 && !resized && slices.Equal(live, s.drawn) {
		return nil
	}
	var b strings.Builder
	b.WriteString(ansi.SetModeSynchronizedOutput + ansi.HideCursor + "\r")
	if n := s.height(columns); n > 0 {
		b.WriteString(ansi.CursorUp(n))
	}
	for _, line := range kept {
		b.WriteString(ansi.EraseScreenBelow + line + "\r\n")
	}
	for _, line := range live {
		b.WriteString(ansi.EraseEntireLine + line + "\r\n") // erased first: at the last column erasing would take a character
	}
	b.WriteString(ansi.EraseScreenBelow + ansi.ShowCursor + ansi.ResetModeSynchronizedOutput)
	s.drawn, s.columns = live, columns
	_, err := io.WriteString(s.out, b.String())
	return err
}

// height is how many rows the live part takes now: terminals break lines that became too long for them.
func (s *screen) height(columns int) int {
	if columns >= s.columns || columns <= 0 {
		return len(s.drawn)
	}
	n := 0
	for _, line := range s.drawn {
		n += 1 + max(0, width(line)-1)/columns
	}
	return n
}
