package live

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	frameStart = "\x1b[?2026h\x1b[?25l\r"
	frameEnd   = "\x1b[J\x1b[?25h\x1b[?2026l"
)

func TestScreen(t *testing.T) {
	var terminal strings.Builder
	s := &screen{out: &terminal}
	for _, tc := range []struct {
		name       string
		kept, live []string
		columns    int
		want       string
	}{
		{"first", nil, []string{"one", "two"}, 80, frameStart + "\x1b[2Kone\r\n\x1b[2Ktwo\r\n" + frameEnd},
		{"same", nil, []string{"one", "two"}, 80, ""},
		{"changed", nil, []string{"one", "2"}, 80, frameStart + "\x1b[2A\x1b[2Kone\r\n\x1b[2K2\r\n" + frameEnd},
		{"kept above", []string{"fact"}, []string{"one"}, 80, frameStart + "\x1b[2A\x1b[Jfact\r\n\x1b[2Kone\r\n" + frameEnd},
		{"longer", nil, []string{strings.Repeat("x", 80), "b"}, 80, frameStart + "\x1b[A\x1b[2K" + strings.Repeat("x", 80) + "\r\n\x1b[2Kb\r\n" + frameEnd},
		{"narrowed: two lines have become four", nil, []string{"a"}, 30, frameStart + "\x1b[4A\x1b[2Ka\r\n" + frameEnd},
		{"widened", nil, []string{"a"}, 80, frameStart + "\x1b[A\x1b[2Ka\r\n" + frameEnd},
		{"over", []string{"fact"}, nil, 80, frameStart + "\x1b[A\x1b[Jfact\r\n" + frameEnd},
		{"still over", nil, nil, 80, ""},
	} {
		terminal.Reset() // the screen goes on: each frame depends on the one before
		if err := s.print(tc.kept, tc.live, tc.columns); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, terminal.String()); diff != "" {
			t.Errorf("%s: -want +got:\n%s", tc.name, diff)
		}
	}
}

type gone struct{ writes int }

var errGone = errors.New("gone")

func (g *gone) Write([]byte) (int, error) { g.writes++; return 0, errGone }

func TestPrintersTellOfErrors(t *testing.T) {
	for _, p := range []printer{lines{&gone{}}, &screen{out: &gone{}}} {
		if err := p.print([]string{"a"}, []string{"b"}, 80); !errors.Is(err, errGone) {
			t.Errorf("%T: %v", p, err)
		}
	}
}
