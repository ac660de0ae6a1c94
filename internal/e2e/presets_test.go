package e2e

import (
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/jsonout"
	"github.com/iotax/iotax/internal/spec"
)

// published is a preset after a published experiment, and what must be seen of it on every host that runs these tests.
type published struct {
	preset, budget string
	may            []string // patterns of stacks that a host may be unable to offer
	check          func(t *testing.T, d jsonout.Document)
}

// Each published experiment runs whole: every stack keeps its row, every statement gets a verdict, every figure is there.
func TestPublishedExperiments(t *testing.T) {
	for _, p := range []published{
		{"local-disks", "70s", []string{"lvm", "passthrough*"}, checkLocalDisks},
		{"controllers", "45s", []string{"ide", "null-ide", "*lsi53c895a", "sata*", "virtio-blk*"}, checkControllers},
		{"image-formats", "50s", []string{"direct"}, checkImageFormats},
		{"qemu-tuning", "2m", []string{"lvm*", "thin-*", "device*", "hugepages", "tuned*", "vhost-user-blk", "spdk-*"}, checkTuning},
	} {
		t.Run(p.preset, func(t *testing.T) {
			h := newHost(t)
			file := filepath.Join(h.dir, "result.json")
			r := h.emulated("--preset", p.preset, "--scale", "tiny", "--budget", p.budget, "--json", file)
			r.patience = 5 * patience // its guests boot one after another, beside what it has for measuring
			r.wait(0)
			e := atTiny(t, p.preset)
			checkContract(t, file)
			d := read(t, file)
			checkRows(t, d, e, p.may)
			checkVerdicts(t, d, e)
			checkFigures(t, d, e)
			checkScale(t, r, d, e)
			if d.Run.Status != record.Complete || d.Run.Preset != p.preset {
				t.Errorf("the run is %+v", d.Run)
			}
			checkClocks(h)
			p.check(t, d)
		})
	}
}

// checkClocks fails the test when a guest measured in seconds of its own: so it was on busy hosts, by factors.
func checkClocks(h *host) {
	h.t.Helper()
	_, windows := h.stored()
	for _, w := range windows {
		if skew := w.Evidence.ClockSkew; skew != nil && math.Abs(*skew) > 0.02 {
			h.t.Errorf("boot %d, round %d, %s: the guest's clock ran by %.0f %% too fast", w.Boot, w.Round, w.Stack, 100**skew)
		}
	}
}

func atTiny(t *testing.T, preset string) spec.Experiment {
	t.Helper()
	e, err := spec.Preset(preset)
	if err == nil {
		e, err = e.AtScale("tiny")
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// checkRows holds a report to the stacks and workloads of its experiment: each has its row, with a number or the reason.
func checkRows(t *testing.T, d jsonout.Document, e spec.Experiment, may []string) {
	t.Helper()
	want := []string{spec.Host}
	for _, s := range e.Stacks {
		want = append(want, s.Name)
	}
	want = append(want, spec.Control)
	var got []string
	for _, s := range d.Stacks {
		got = append(got, s.Name)
		if s.Unavailable == "" {
			continue
		}
		if !slices.ContainsFunc(may, func(pattern string) bool { ok, _ := filepath.Match(pattern, s.Name); return ok }) {
			t.Errorf("%s is unavailable, which every host can offer: %s", s.Name, s.Unavailable)
		}
		if s.Mend == "" {
			t.Errorf("%s is unavailable (%s) and nothing is said to mend it", s.Name, s.Unavailable)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stacks (-of the preset +of the report):\n%s", diff)
	}
	cells := map[string]int{}
	for _, c := range d.Cells {
		cells[c.Stack+", "+c.Workload]++
		checkStatus(t, d, c)
	}
	for _, s := range want {
		for _, w := range e.Workloads {
			if n := cells[s+", "+w.Name]; n != 1 {
				t.Errorf("%s, %s has %d cells, want 1", s, w.Name, n)
			}
		}
	}
}

func checkStatus(t *testing.T, d jsonout.Document, c jsonout.Cell) {
	t.Helper()
	stack := stackOf(t, d, c.Stack)
	switch c.Status {
	case record.OK:
		if c.Rounds < 1 || len(c.Points) == 0 || stack.Unavailable != "" || c.Reason != "" {
			t.Errorf("cell %s, %s has %d rounds, %d points, reason %q, and its stack is unavailable: %q",
				c.Stack, c.Workload, c.Rounds, len(c.Points), c.Reason, stack.Unavailable)
		}
	case record.Withheld:
		if c.Reason == "" || strings.Contains(c.Reason, "effective configuration") {
			t.Errorf("cell %s, %s is withheld: %q", c.Stack, c.Workload, c.Reason)
		}
	case record.Unavailable:
		if c.Reason == "" || stack.Unavailable != "" && c.Reason != stack.Unavailable {
			t.Errorf("cell %s, %s is unavailable: %q; its stack: %q", c.Stack, c.Workload, c.Reason, stack.Unavailable)
		}
	default:
		if !busy() { // where fio is starved it may look as if its disk stood still
			t.Errorf("cell %s, %s is %s: %s", c.Stack, c.Workload, c.Status, c.Reason)
		}
	}
}

func stackOf(t *testing.T, d jsonout.Document, name string) jsonout.Stack {
	t.Helper()
	i := slices.IndexFunc(d.Stacks, func(s jsonout.Stack) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no stack %s", name)
	}
	return d.Stacks[i]
}

func cellOf(t *testing.T, d jsonout.Document, stack, workload string) jsonout.Cell {
	t.Helper()
	i := slices.IndexFunc(d.Cells, func(c jsonout.Cell) bool { return c.Stack == stack && c.Workload == workload })
	if i < 0 {
		t.Fatalf("there is no cell %s, %s", stack, workload)
	}
	return d.Cells[i]
}

// checkVerdicts holds a report to the statements of its experiment: each is judged, by an effect or with a reason.
func checkVerdicts(t *testing.T, d jsonout.Document, e spec.Experiment) {
	t.Helper()
	var want, got []string
	for _, s := range e.Statements {
		want = append(want, s.Text)
	}
	for _, v := range d.Verdicts {
		got = append(got, v.Statement)
		switch v.Verdict {
		case "holds", "does not hold":
			if v.Effect == nil || v.Effect.Low == nil || v.Effect.High == nil {
				t.Errorf("%q %s without an interval", v.Statement, v.Verdict)
			}
		case "cannot tell":
			if v.Reason == "" {
				t.Errorf("nobody says why it cannot be told whether %q", v.Statement)
			}
		default:
			t.Errorf("%q gets the verdict %q", v.Statement, v.Verdict)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("statements (-of the preset +judged):\n%s", diff)
	}
	for i, s := range e.Statements {
		for _, term := range slices.Concat(s.Of, s.Over) {
			if term.Stack == spec.Host {
				continue
			}
			if absent := stackOf(t, d, term.Stack); absent.Unavailable != "" && i < len(d.Verdicts) {
				if v := d.Verdicts[i]; v.Verdict != "cannot tell" || !strings.Contains(v.Reason, absent.Unavailable) {
					t.Errorf("%q is of %s, which is unavailable, and the verdict is %q: %s", s.Text, absent.Name, v.Verdict, v.Reason)
				}
			}
		}
	}
}

// checkFigures holds a report to the figures of its experiment, down to the rows and the steps.
func checkFigures(t *testing.T, d jsonout.Document, e spec.Experiment) {
	t.Helper()
	if len(d.Figures) != len(e.Figures) {
		t.Fatalf("%d figures, want %d", len(d.Figures), len(e.Figures))
	}
	for i, f := range d.Figures {
		want := e.Figures[i]
		if f.Title != want.Title || f.Kind != want.Kind {
			t.Errorf("figure %q of kind %s, want %q of kind %s", f.Title, f.Kind, want.Title, want.Kind)
		}
		if f.Kind == "ladder" {
			checkLadder(t, f, want)
			continue
		}
		if len(f.Panels) == 0 {
			t.Errorf("figure %q is empty", f.Title)
		}
		for _, p := range f.Panels {
			if len(p.Rows) < 2 || len(p.Columns) == 0 {
				t.Errorf("figure %q has a panel of %d rows and %d columns", f.Title, len(p.Rows), len(p.Columns))
			}
			for _, row := range p.Rows {
				for j, v := range row.Values {
					if v.Estimate == nil && v.Text == "" && v.Reason == "" && v.Status != record.OK {
						t.Errorf("figure %q, %s, %s: neither a value nor a reason: %+v", f.Title, row.Stack, p.Columns[j].Name, v)
					}
				}
			}
		}
	}
}

func checkLadder(t *testing.T, f jsonout.Figure, want spec.Figure) {
	t.Helper()
	if f.Ladder == nil || f.Ladder.Base != want.Base || len(f.Ladder.Steps) != len(want.Steps) {
		t.Errorf("ladder %q is %+v, want %d steps from %s", f.Title, f.Ladder, len(want.Steps), want.Base)
		return
	}
	for i, s := range f.Ladder.Steps {
		if s.Title != want.Steps[i].Title || s.Alone.Stack == "" {
			t.Errorf("step %d of %q is %+v, want %+v", i, f.Title, s, want.Steps[i])
		}
		for _, worth := range []jsonout.Worth{s.Alone, s.Together, s.Without} {
			if worth.Stack != "" && worth.Factor == nil && worth.Reason == "" {
				t.Errorf("step %q of %q: %s has neither a factor nor a reason", s.Title, f.Title, worth.Stack)
			}
		}
	}
	if f.Ladder.Total == nil && f.Ladder.Reason == "" {
		t.Errorf("ladder %q has neither a total nor a reason", f.Title)
	}
}

// checkScale looks for the scale and what it costs in every output.
func checkScale(t *testing.T, r *run, d jsonout.Document, e spec.Experiment) {
	t.Helper()
	if d.Run.Scale != "tiny" || d.Run.Note != e.Note {
		t.Errorf("the JSON says scale %q, %q; want tiny, %q", d.Run.Scale, d.Run.Note, e.Note)
	}
	unwrapped := strings.Join(strings.Fields(r.stdout.String()), " ")
	says(t, unwrapped, "TINY", e.Note)
	says(t, r.stderr.String(), "tiny", e.Note)
	page, err := os.ReadFile(filepath.Join(r.state, d.Run.ID+".html"))
	if err != nil {
		t.Fatal(err)
	}
	text := html.UnescapeString(string(page))
	if !strings.Contains(strings.ToLower(text), "tiny") || !strings.Contains(text, e.Note) {
		t.Errorf("the HTML report (%d bytes) does not tell its scale", len(page))
	}
	for _, title := range []string{d.Verdicts[0].Statement, d.Figures[0].Title} {
		says(t, unwrapped, title)
		if !strings.Contains(text, title) {
			t.Errorf("the HTML report lacks %q", title)
		}
	}
}

// derived reports whether the counters of the disk were read around the windows of a cell.
func derived(d jsonout.Document, c jsonout.Cell) bool {
	return d.Host.Device.Name != "" && c.Status != record.Failed && c.Status != record.Unavailable && c.Rounds > 0
}

func checkLocalDisks(t *testing.T, d jsonout.Document) {
	for _, stack := range []string{spec.Host, "raw", "raw-writeback"} {
		for _, workload := range []string{"read-256k-q1", "randread-4k-q1", "warm-read-256k"} {
			c := cellOf(t, d, stack, workload)
			if !derived(d, c) {
				continue
			}
			if c.RAMShare == nil {
				t.Errorf("%s, %s: nobody says how much came from RAM", stack, workload)
			}
			if _, has := c.Derived["device_read_ratio"]; !has && !disturbed(c) {
				t.Errorf("%s, %s: nobody counts what was read from the device: %v", stack, workload, c.Derived)
			}
		}
	}
	if c := cellOf(t, d, "raw-writeback", "warm-read-256k"); derived(d, c) && !busy() && (c.RAMShare == nil || *c.RAMShare < 0.5 || c.Status != record.Withheld) {
		t.Errorf("reads of a file that was read before, through the page cache, are %s with ram_share %v", c.Status, c.RAMShare)
	}
	for _, s := range d.Stacks {
		if s.Volume != nil && len(s.Volume.Devices) == 0 && d.Host.Device.Name != "" {
			t.Errorf("%s: the disks under its volume are not told", s.Name)
		}
	}
}

func checkControllers(t *testing.T, d jsonout.Document) {
	for _, s := range d.Stacks {
		if s.Unavailable != "" || s.Name == spec.Host || s.Name == spec.Control {
			continue
		}
		want := "write back"
		if strings.HasSuffix(s.Name, "-directsync") {
			want = "write through"
		}
		if got := s.Effective["guest write cache"]; got != want {
			t.Errorf("%s: the guest sees the write cache %q, want %q", s.Name, got, want)
		}
	}
	for _, c := range d.Cells {
		if _, has := c.Derived["device_write_ratio"]; !has && c.Stack == spec.Host && c.Workload == "write-4m" && derived(d, c) {
			t.Errorf("nobody counts what the host wrote to the device: %v", c.Derived)
		}
	}
}

func checkImageFormats(t *testing.T, d jsonout.Document) {
	for _, stack := range []string{"raw", "qcow2", "qcow2-growing"} {
		if c := cellOf(t, d, stack, "write-4k"); derived(d, c) {
			if e, has := c.Derived["device_write_ratio"]; !has || e.Value <= 0 {
				t.Errorf("%s: nobody counts what was written to the device: %v", stack, c.Derived)
			}
		}
	}
	for _, stack := range []string{"qcow2-growing", "raw-growing"} {
		if c := cellOf(t, d, stack, "read-4k"); c.Status != record.Unavailable {
			t.Errorf("%s holds nothing before it is written to, and reading it is %s", stack, c.Status)
		}
	}
	if c := cellOf(t, d, "raw", "warm-read-4k"); derived(d, c) && !busy() && (c.RAMShare == nil || *c.RAMShare < 0.5) {
		t.Errorf("reads of a file that was read before, through the page cache, have ram_share %v", c.RAMShare)
	}
}

func checkTuning(t *testing.T, d jsonout.Document) {
	guests := map[string]bool{}
	for _, b := range d.Host.Boots {
		guests[fmt.Sprint(b.Args)] = true
	}
	if len(guests) < 2 {
		t.Errorf("%d different guests were booted, want that of the plain stacks and one at least with shared memory", len(guests))
	}
	for name, want := range map[string]string{"stock": "write back", "virtio-blk": "write back"} {
		if got := stackOf(t, d, name).Effective["guest write cache"]; got != want {
			t.Errorf("%s: the guest sees the write cache %q, want %q", name, got, want)
		}
	}
}
