package live

import (
	"io"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
)

// BenchmarkFrame is what the view costs the measuring beside it, up to eight times a second and usually once or twice:
// a frame of the default experiment that differs from the last one, drawn in colour. The estimates come on top, once a block.
func BenchmarkFrame(b *testing.B) {
	exp := preset(b, "default")
	m := newModel(exp, false)
	now := time.Now()
	p := progress(exp, 5, 17)
	r := estimates(exp, 6)
	m.result = &r
	s := &screen{out: io.Discard}
	for b.Loop() {
		p.Done++
		p.Planned = p.Done + 1000
		m.setProgress(p, now)
		if err := s.print(nil, frame{m, true, 80, 23, now}.lines(), 80); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEstimates is the other part of the cost: the table of a default run near its end, once a block.
func BenchmarkEstimates(b *testing.B) {
	exp := preset(b, "default")
	windows := rounds(exp, 12)
	for b.Loop() {
		analyse.Estimates(record.Run{}, exp, windows)
	}
}
