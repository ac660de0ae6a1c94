package live

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/measure"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// midway is a model in the middle of a run of the default experiment.
func midway(t testing.TB) *model {
	exp := preset(t, "default")
	m := newModel(exp, false)
	r := estimates(exp, 6)
	m.result = &r
	p := progress(exp, 5, 92)
	p.Cell = plan.Key{Stack: "sata", Workload: "randread-4k-q32"}
	m.setProgress(p, noon)
	return m
}

func draw(m *model, columns, rows int, now time.Time) string {
	return strings.Join(frame{m, false, columns, rows, now}.lines(), "\n") + "\n"
}

func TestFrames(t *testing.T) {
	exp := preset(t, "quick")
	fresh := func(p measure.Progress) *model {
		m := newModel(exp, false)
		m.setProgress(p, noon)
		return m
	}
	filling := newModel(exp, false)
	filling.setStage("filling 12 volumes", 0, 6<<30, noon)
	filling.setStage("filling 12 volumes", 2<<30, 6<<30, noon.Add(10*time.Second))
	unpacking := newModel(exp, false)
	unpacking.setStage("fetching the guest's kernel", 31<<20, 0, noon)
	priming := progress(exp, 0, 3)
	priming.Discard = true
	for _, tc := range []struct {
		name          string
		model         *model
		columns, rows int
	}{
		{"midway-80x24", midway(t), 80, 23},
		{"midway-60x24", midway(t), 60, 23},
		{"midway-160x24", midway(t), 160, 23},
		{"midway-80x12", midway(t), 80, 11},
		{"midway-80x5", midway(t), 80, 4},
		{"filling", filling, 80, 23},
		{"total-not-known", unpacking, 80, 23},
		{measure.Booting, fresh(measure.Progress{Boots: 2, Note: booting}), 80, 23},
		{"priming", fresh(priming), 80, 23},
		{"nothing-planned", fresh(measure.Progress{Boots: 1, Done: 7, Round: 3, Cell: plan.Key{Stack: "host", Workload: "x"}}), 80, 8},
	} {
		t.Run(tc.name, func(t *testing.T) {
			checkGolden(t, tc.name, draw(tc.model, tc.columns, tc.rows, noon.Add(12*time.Second)))
		})
	}
}

func TestFramesFitAnyTerminal(t *testing.T) {
	m := midway(t)
	for columns := 0; columns < 180; columns += 1 + columns/16 {
		for rows := range 24 {
			lines := frame{m, true, columns, rows, noon}.lines()
			if len(lines) > rows {
				t.Fatalf("%d lines on %d rows", len(lines), rows)
			}
			for _, line := range lines {
				if width(line) > columns {
					t.Fatalf("%d columns on %d: %q", width(line), columns, line)
				}
			}
		}
	}
}

func TestNothingToShow(t *testing.T) {
	if got := (frame{newModel(spec.Experiment{}, false), false, 80, 23, noon}).lines(); len(got) > 0 {
		t.Errorf("before anything is known: %q", got)
	}
}

func TestCountdownStopsAtZero(t *testing.T) {
	m := midway(t)
	for after, want := range map[time.Duration]string{0: "1:12 left", 13 * time.Second: "0:59 left", time.Hour: "0:00 left"} {
		line, _, _ := strings.Cut(draw(m, 80, 23, noon.Add(after)), "\n")
		if !strings.HasSuffix(line, want) {
			t.Errorf("after %v: %q, want %q at the end", after, line, want)
		}
	}
}

func TestColourAddsNoText(t *testing.T) {
	m := midway(t)
	colour := strings.Join(frame{m, true, 80, 23, noon}.lines(), "\n") + "\n"
	if !strings.Contains(colour, "\x1b[") {
		t.Error("no colour at all")
	}
	var lines []string
	for line := range strings.Lines(colour) {
		lines = append(lines, strings.TrimRight(ansi.Strip(strings.TrimSuffix(line, "\n")), " "))
	}
	want := strings.Split(strings.TrimSuffix(draw(m, 80, 23, noon), "\n"), "\n")
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("-plain +coloured:\n%s", diff)
	}
	if got := draw(m, 80, 23, noon); strings.Contains(got, "\x1b") {
		t.Errorf("escape sequences without colour: %q", got)
	}
}

// A number is withheld in the table for the reasons of the report; before the first round there is nothing to withhold.
func TestEntries(t *testing.T) {
	exp := preset(t, "default")
	windows := rounds(exp, 4)
	none := int64(0)
	for i := range windows {
		w := &windows[i]
		switch {
		case w.Stack == "sata" && w.Workload == "randread-4k-q1":
			w.Evidence.DeviceRead = &none
		case w.Stack == "ide" && w.Workload == "randread-4k-q1":
			w.Status = record.Stalled
		case w.Stack == "nvme" && w.Workload == "randread-4k-q1":
			w.Discard = true
		}
	}
	run := record.Run{Stacks: []record.Stack{{Name: "virtio-scsi", Unavailable: "not here"}}}
	r := analyse.Estimates(run, exp, windows)
	m := newModel(exp, false)
	m.result = &r
	stacks := []string{"host", "virtio-blk", "sata", "ide", "nvme", "virtio-scsi", "host-again", "never-heard-of"}
	columns := frame{m, false, 80, 23, noon}.makeColumns(stacks)
	if columns[0].top != "4k rand" || columns[0].bottom != "read q1" {
		t.Fatalf("the first workload is %q %q", columns[0].top, columns[0].bottom)
	}
	got := map[string]string{}
	for i, stack := range stacks {
		got[stack] = columns[0].cells[i].string
	}
	want := map[string]string{
		"host": "20.6k IOPS", "virtio-blk": "52 % ± 4", "sata": "withheld", "ide": "failed", "nvme": "·",
		"virtio-scsi": "n/a", "host-again": "~", "never-heard-of": "·",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := columns[4].cells[0].string; got != "5.4 GB/s" {
		t.Errorf("the host under a sequential load: %q, want its bandwidth", got)
	}
}

func TestSplit(t *testing.T) {
	for title, want := range map[string][2]string{
		"":                     {"", ""},
		"one":                  {"", "one"},
		"4k rand read q32":     {"4k rand", "read q32"},
		"256k seq write":       {"256k seq", "write"},
		"a-very-long-word-now": {"", "a-very-long-w…"},
	} {
		top, bottom := split(title)
		if got := [2]string{top, bottom}; got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"a\nb\tc":                  "a b c",
		"\x1b[2Jgone \x1b]0;x\aby": "gone by",
		"  spaces   inside ":       "spaces inside",
	} {
		if got := clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got, want := oneLine("host   2 x \x1b[1mCPU\x1b[m\r\n"), "host   2 x CPU"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
