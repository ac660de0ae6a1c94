package live

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/unit"
)

const (
	maxStatus = 100 // columns: on a wide terminal the time left does not stand alone at the far end
	minBar    = 8
	maxBar    = 30
)

// frame is a picture of the model for a terminal of a certain size.
type frame struct {
	*model
	painter
	columns, rows int
	now           time.Time
}

// lines are those of the live part: at most as many as there are rows and none wider than there are columns,
// without blanks at their ends.
func (f frame) lines() []string {
	var out []string
	if f.stageShown() {
		out = append(out, f.stageLine())
	}
	if f.at.boots > 0 {
		out = append(out, f.placeLine(), f.cellLine())
		out = append(out, f.table(f.rows-len(out))...)
	}
	for i, line := range out {
		out[i] = strings.TrimRight(cut(line, f.columns), " ")
	}
	return out[:max(0, min(len(out), f.rows))]
}

// stageLine is "filling 12 volumes  ████████░░░░  3.6 GiB of 6.0 GiB  0:41 left".
func (f frame) stageLine() string {
	s := f.stage
	amount, end := right(unit.Bytes(s.done), len("1023 MiB")), ""
	if s.total > 0 {
		amount += " of " + unit.Bytes(s.total)
		took := f.now.Sub(s.began)
		if s.done > 0 && took >= 2*time.Second { // sooner it is a guess
			end = unit.Clock(time.Duration(float64(took)*(float64(s.total)/float64(s.done)-1))) + " left"
		}
	}
	return f.status([]string{s.name}, share(s.done, s.total), []string{amount}, end)
}

// placeLine is "boot 1 of 2  round 5 of ~7  ████████░░░░  window  93 of 168  1:12 left".
func (f frame) placeLine() string {
	p := f.at
	before, after := []string{bootOf(p)}, []string{}
	if p.running() {
		before = append(before, roundOf(p))
		after = append(after, windowOf(p))
	} else if p.note != "" {
		before = append(before, p.note)
	}
	end := ""
	if left, known := p.remaining(f.now); known {
		end = unit.Clock(left) + " left"
	}
	return f.status(before, share(int64(p.done), int64(p.planned)), after, end)
}

// windowOf is the number of the running window, padded so that what stands before it keeps its place.
func windowOf(p place) string {
	if p.planned <= 0 {
		return fmt.Sprintf("window %d", p.done+1)
	}
	of := max(p.done, p.planned)
	return fmt.Sprintf("window %*d of %d", len(strconv.Itoa(of)), min(p.done+1, of), of)
}

func (f frame) cellLine() string {
	if !f.at.running() {
		return ""
	}
	return f.names.stack(f.at.cell.Stack) + ", " + f.names.workload(f.at.cell.Workload)
}

// share is a part of a whole from 0 to 1, -1 where the whole is not known.
func share(part, whole int64) float64 {
	if whole <= 0 {
		return -1
	}
	return min(1, max(0, float64(part)/float64(whole)))
}

// status sets a bar among words, as wide as the line leaves it, and what stands at the end of the line.
func (f frame) status(before []string, done float64, after []string, end string) string {
	const gap = "  "
	line, rest := strings.Join(before, gap), strings.Join(after, gap)
	columns := min(f.columns, maxStatus)
	room := columns - width(line) - 2*len(gap)
	if rest != "" {
		room -= width(rest) + len(gap)
	}
	room -= max(width(end), len("59:59 left")) // so that the bar does not move when it becomes shorter
	if done >= 0 && room >= minBar {
		line += gap + f.bar(done, min(room, maxBar))
	}
	if rest != "" {
		line += gap + rest
	}
	if end == "" {
		return line
	}
	return left(line, columns-width(end)-len(gap)) + gap + end
}

func (f frame) bar(share float64, columns int) string {
	full := int(share * float64(columns))
	return f.paint(done, strings.Repeat("█", full)) + f.paint(faint, strings.Repeat("░", columns-full))
}
