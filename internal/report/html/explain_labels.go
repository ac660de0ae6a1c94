package html

import (
	"math"
	"slices"
	"unicode/utf8"
)

// box is a rectangle of a drawing.
type box struct{ left, top, right, bottom float64 }

func (b box) meets(o box) bool {
	return b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom
}

func (b box) holds(o box) bool {
	return b.left <= o.left && o.right <= b.right && b.top <= o.top && o.bottom <= b.bottom
}

// label is a text beside a point. Leader is a line back to the point, for a text that stands further off.
type label struct {
	X, Y         float64
	Anchor, Text string // Anchor is start, middle or end
	Leader       string
	spot         box
}

// Size of the letters of a drawing as they are on a phone, where they are largest against the drawing; a wide letter on average.
const (
	letterWidth  = 7.3
	letterHeight = 14
)

// near is how far from its point a text stands that needs no line back to it.
const near = 8

// labels places texts beside points so that none covers another, or a point.
type labels struct {
	inside box
	taken  []box // where no text may stand
	soft   []box // where one should not
}

// point keeps texts off a marker, line off a stroke where there is room elsewhere.
func (l *labels) point(x, y float64) { l.taken = append(l.taken, box{x - 5, y - 5, x + 5, y + 5}) }

func (l *labels) line(x1, y1, x2, y2 float64) { l.soft = append(l.soft, along(x1, y1, x2, y2)...) }

// along covers a stroke with small boxes.
func along(x1, y1, x2, y2 float64) []box {
	n := math.Ceil(math.Hypot(x2-x1, y2-y1)/3) + 1
	out := make([]box, 0, int(n))
	for i := range int(n) {
		t := float64(i) / n
		x, y := x1+t*(x2-x1), y1+t*(y2-y1)
		out = append(out, box{x - 1, y - 1, x + 1, y + 1})
	}
	return out
}

// beside finds room for a text next to a point; false where there is none. A strict one covers no stroke either.
func (l *labels) beside(x, y float64, text string, strict bool) (label, bool) {
	return l.first(l.around(x, y, text, near), strict)
}

// apart finds room for a text further off, with a line back to the point that crosses no other text and no other point.
func (l *labels) apart(x, y float64, text string) (label, bool) {
	for _, strict := range []bool{true, false} {
		for away := near + 10.0; away <= 70; away += 8 {
			var clear []label
			for _, c := range l.around(x, y, text, away) {
				toX, toY := min(max(x, c.spot.left), c.spot.right), min(max(y, c.spot.top+2), c.spot.bottom-2)
				if l.crosses(x, y, toX, toY) {
					continue
				}
				c.Leader = "M" + number(x) + " " + number(y) + "L" + number(toX) + " " + number(toY)
				clear = append(clear, c)
			}
			if got, ok := l.first(clear, strict); ok {
				return got, true
			}
		}
	}
	return label{}, false
}

// crosses reports whether a line from a point meets anything but that point.
func (l *labels) crosses(x, y, toX, toY float64) bool {
	for _, b := range along(x, y, toX, toY) {
		for _, t := range l.taken {
			own := t.left < x && x < t.right && t.top < y && y < t.bottom
			if !own && b.meets(t) {
				return true
			}
		}
	}
	return false
}

func (l *labels) first(places []label, strict bool) (label, bool) {
	for _, c := range places {
		if l.free(c.spot, strict) {
			l.taken = append(l.taken, c.spot)
			return c, true
		}
	}
	return label{}, false
}

func (l *labels) free(b box, strict bool) bool {
	meets := func(t box) bool { return b.meets(t) }
	return l.inside.holds(b) && !slices.ContainsFunc(l.taken, meets) && (!strict || !slices.ContainsFunc(l.soft, meets))
}

// around are the places beside a point, the best one first. They are moved sideways where they would leave the drawing.
func (l *labels) around(x, y float64, text string, away float64) []label {
	const up, down = letterHeight * 0.75, letterHeight * 0.25 // of the base line
	width := letterWidth * float64(utf8.RuneCountInString(text))
	at := func(anchor string, x, y float64) label {
		before := map[string]float64{"start": 0, "middle": width / 2, "end": width}[anchor] // how much of it stands left of x
		left := max(min(x-before, l.inside.right-width), l.inside.left)
		return label{X: tenth(left + before), Y: tenth(y), Anchor: anchor, Text: text, spot: box{left, y - up, left + width, y + down}}
	}
	slant := 0.8 * away
	return []label{
		at("start", x+away, y+4), at("end", x-away, y+4), at("middle", x, y-away), at("middle", x, y+away+up),
		at("start", x+slant, y-slant), at("start", x+slant, y+slant+up), at("end", x-slant, y-slant), at("end", x-slant, y+slant+up),
	}
}
