package rig

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// A volume that is whole is not asked about again, unless its disk can make holes; one that is not is asked each time.
func TestLookAtVolume(t *testing.T) {
	for name, tt := range map[string]struct {
		stack spec.Stack
		told  []float64
		want  []float64 // of the windows
	}{
		"whole":                     {spec.Stack{}, []float64{0}, []float64{0, 0, 0}},
		"written meanwhile":         {spec.Stack{}, []float64{0.5, 0.25, 0}, []float64{0.5, 0.25, 0, 0}},
		"discards are passed on":    {spec.Stack{Discard: "unmap"}, []float64{0, 0, 0.5}, []float64{0, 0, 0.5}},
		"discards are ignored":      {spec.Stack{Discard: "ignore", DetectZeroes: "off"}, []float64{0}, []float64{0, 0}},
		"zeros are made a note of":  {spec.Stack{DetectZeroes: "on"}, []float64{0, 0.1}, []float64{0, 0.1}},
		"zeros are made a hole of":  {spec.Stack{Discard: "unmap", DetectZeroes: "unmap"}, []float64{0, 1}, []float64{0, 1}},
		"of a disk that nobody has": {spec.Stack{}, nil, []float64{-1}},
	} {
		asked := 0
		c := Config{}
		if tt.told != nil {
			c.Unwritten = map[string]func(context.Context) (float64, error){"s": func(context.Context) (float64, error) {
				asked++
				return tt.told[min(asked, len(tt.told))-1], nil
			}}
		}
		tt.stack.Name = "s"
		s := New(c).session(plan.Group{})
		s.intended = []intended{{stack: tt.stack}}
		var got []float64
		for range tt.want {
			var w record.Window
			s.lookAtVolume(t.Context(), &w, "s")
			share := -1.0
			if u := w.Evidence.Unwritten; u != nil {
				share = *u
			}
			got = append(got, share)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || asked != len(tt.told) {
			t.Errorf("%s: asked %d times for %d\n%s", name, asked, len(tt.told), diff)
		}
	}
}

// What cannot be asked has no number, and a footnote.
func TestVolumeThatDoesNotTell(t *testing.T) {
	s := New(Config{Unwritten: map[string]func(context.Context) (float64, error){"s": func(context.Context) (float64, error) {
		return 0, errors.New("qemu-img: no such file\nmore")
	}}}).session(plan.Group{})
	var w record.Window
	s.lookAtVolume(t.Context(), &w, "s")
	if w.Evidence.Unwritten != nil || len(w.Evidence.Warnings) != 1 || !strings.HasSuffix(w.Evidence.Warnings[0], "could not be asked: qemu-img: no such file") {
		t.Errorf("%+v", w.Evidence)
	}
}
