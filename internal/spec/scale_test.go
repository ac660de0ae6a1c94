package spec

import (
	"strings"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/errkind"
)

func TestAtScale(t *testing.T) {
	small, err := Preset("controllers")
	if err != nil {
		t.Fatal(err)
	}
	if same, err := small.AtScale("small"); err != nil || same.Size != small.Size || same.Note != small.Note {
		t.Errorf("at the scale that it has: %+v, %v", same, err)
	}
	article, err := small.AtScale("article")
	if err != nil {
		t.Fatal(err)
	}
	if article.Scale != "article" || article.Size != 64<<30 || article.MinRounds != 10 || article.Workloads[0].Interval != time.Second || article.Note != "" {
		t.Errorf("article: %+v", article)
	}
	if small.Workloads[0].Interval != 10*time.Millisecond {
		t.Error("the scale changed the experiment that it was asked of")
	}
	disks, err := Preset("local-disks")
	if err != nil {
		t.Fatal(err)
	}
	tiny, err := disks.AtScale("tiny")
	if err != nil {
		t.Fatal(err)
	}
	if len(tiny.Workloads) != 7 || len(tiny.Statements) == 0 || len(tiny.Statements) > len(disks.Statements) || len(disks.Workloads) != 37 {
		t.Errorf("tiny has %d workloads and %d statements", len(tiny.Workloads), len(tiny.Statements))
	}
	for preset, want := range map[string]string{"controllers": `did you mean "tiny"?`, "quick": "has one scale only"} {
		e, err := Preset(preset)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.AtScale("tinny"); errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", preset, err, want)
		}
	}
}

func TestDeparts(t *testing.T) {
	for text, want := range map[string]struct {
		scale      string
		statements bool
	}{
		"extends: controllers":                                       {"small", true},
		"extends: controllers\nsize: 2GiB":                           {"", true},
		"extends: controllers\nstacks: [{name: a, bus: virtio-blk}]": {"small", false},
	} {
		e, err := Parse("mine.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if e.Scale != want.scale || (len(e.Statements) > 0) != want.statements {
			t.Errorf("%s: scale %q and %d statements", text, e.Scale, len(e.Statements))
		}
	}
}
