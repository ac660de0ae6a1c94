package html

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

func render(t testing.TB, r analyse.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// heatRows returns the cells of each row of the heat map by stack.
func heatRows(t *testing.T, page *node) map[string][]*node {
	t.Helper()
	rows := map[string][]*node{}
	for _, tr := range page.byID("tax").all("tr") {
		if th := tr.all("th"); len(th) == 1 && th[0].attr["scope"] == "row" {
			name, _, _ := strings.Cut(th[0].words(), " ")
			rows[name] = tr.all("td")
		}
	}
	return rows
}

func TestAnswer(t *testing.T) {
	page := parse(t, render(t, sample()))
	h1 := page.all("h1")
	if len(h1) != 1 {
		t.Fatalf("%d h1, want 1", len(h1))
	}
	want := "virtio-blk-iothread is the best safe way to give a virtual machine this disk, under software emulation: it keeps 47 % " +
		"of the host’s speed (95 % interval 46–48), 21 % faster than virt-manager’s default (17–25) and 31 % faster than Proxmox’s default (27–35)."
	if got := h1[0].words(); got != want {
		t.Errorf("answer\n got %s\nwant %s", got, want)
	}
}

func TestAnswerVariants(t *testing.T) {
	same := stat.Estimate{Value: 1.01, Low: .97, High: 1.05}
	slower := stat.Estimate{Value: .9, Low: .87, High: .93}
	for _, tc := range []struct {
		name   string
		change func(*analyse.Result)
		want   []string
		not    []string
	}{
		{"kvm", func(r *analyse.Result) { r.Run.Host.Accelerator = "kvm" }, []string{"this disk: it keeps"}, []string{"under software emulation"}},
		{"tcg", func(*analyse.Result) {}, []string{"Software emulation. The guest ran without KVM (/dev/kvm opens"}, []string{"Partial run."}},
		{"partial", func(r *analyse.Result) { r.Run.Status, r.Run.Reason = record.Partial, "interrupted in round 3" }, []string{"Partial run. This run did not end as planned: interrupted in round 3."}, nil},
		{"running", func(r *analyse.Result) { r.Run.Status = record.Running }, []string{"Still running."}, []string{"Partial run."}},
		{"alarm", func(r *analyse.Result) { r.Noise.Alarm = true }, []string{"Control alarm."}, nil},
		{"no best", func(r *analyse.Result) { r.Best = nil }, []string{"This run cannot name a best safe way"}, []string{"What a change gives", "best safe stack</"}},
		{"tied", func(*analyse.Result) {}, []string{"This run cannot tell it from virtio-blk-native."}, nil},
		{"same", func(r *analyse.Result) { r.Gains[0].Overall, r.Gains[0].Differs = &same, false }, []string{"Against virt-manager’s default this run cannot tell a difference: ~ (−3 to +5 %)."}, []string{"faster than virt-manager"}},
		{"slower", func(r *analyse.Result) { r.Gains[0].Overall = &slower }, []string{"10 % slower than virt-manager’s default (7–13)"}, nil},
		{"incomparable", func(r *analyse.Result) { r.Gains[1].Overall = nil }, []string{"It cannot be compared with Proxmox’s default in this run."}, []string{"faster than Proxmox"}},
		{"best is a default", func(r *analyse.Result) { r.Best.Stack = "proxmox" }, []string{"It is Proxmox’s default."}, []string{"proxmox instead of Proxmox", "faster than Proxmox"}},
		{"some workloads", func(r *analyse.Result) { r.Best.Workloads = r.Best.Workloads[:6] }, []string{"over 6 of 7 workloads"}, nil},
		{"no control", func(r *analyse.Result) { r.Noise = analyse.Noise{} }, []string{"its noise floor is not known"}, []string{"smallest difference it sees"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := sample()
			tc.change(&r)
			text := parse(t, render(t, r)).all("body")[0].words()
			for _, s := range tc.want {
				if !strings.Contains(text, s) {
					t.Errorf("the page lacks %q", s)
				}
			}
			for _, s := range tc.not {
				if strings.Contains(text, s) {
					t.Errorf("the page has %q", s)
				}
			}
		})
	}
}

func TestHeatMap(t *testing.T) {
	r := sample()
	rows := heatRows(t, parse(t, render(t, r)))
	for _, stack := range r.StackOrder {
		if got, want := len(rows[stack]), len(r.Experiment.Workloads)+1; got != want {
			t.Errorf("%s has %d cells, want %d", stack, got, want)
		}
	}
	for _, tc := range []struct {
		stack       string
		col         int
		text, class string
	}{
		{"host", 0, "19.1k IOPS 18.7–19.5", "base"},
		{"host", 4, "1.34 GB/s 1.31–1.37", "base"},
		{"virtio-blk-iothread", 4, "86 % 84–88", "h9"},
		{"virtio-blk-iothread", 7, "● durable", "dur safe"},
		{"host-again", 0, "~ 98–103", "tie"},
		{"virt-manager", 0, "24.1 %1 23.6–24.6", "h2"},
		{"virt-manager", 4, "withheld2", "none"},
		{"nvme", 5, "failed3", "none"},
		{"ide", 0, "n/a5", "none"},
		{"ide", 7, "? unknown", "dur unknown"},
		{"writeback-unsafe", 6, "163 % 160–166", "h10"},
		{"writeback-unsafe", 7, "○ unsafe", "dur unsafe"},
	} {
		td := rows[tc.stack][tc.col]
		if td.words() != tc.text || td.attr["class"] != tc.class {
			t.Errorf("%s, column %d: %q %q, want %q %q", tc.stack, tc.col, td.words(), td.attr["class"], tc.text, tc.class)
		}
	}
}

func TestCeilingStandsApart(t *testing.T) {
	bodies := parse(t, render(t, sample())).byID("tax").all("tbody")
	last := bodies[len(bodies)-1]
	if !strings.HasPrefix(last.words(), "Ceiling:") || !strings.Contains(last.words(), "null-co") {
		t.Errorf("the last group is %q", last.words())
	}
	for _, b := range bodies[:len(bodies)-1] {
		if strings.Contains(b.words(), "null-co") {
			t.Error("the ceiling stands among the stacks")
		}
	}
}

func TestOnTheHostStandsApart(t *testing.T) {
	r := sample()
	r.Experiment.Stacks = slices.Clone(r.Experiment.Stacks)
	moved := &r.Experiment.Stacks[0]
	moved.Bus = "host"
	bodies := parse(t, render(t, r)).byID("tax").all("tbody")
	for _, b := range bodies {
		if apart := strings.HasPrefix(b.words(), "On the host:"); apart != strings.Contains(b.words(), moved.Title) {
			t.Errorf("under the right heading: %v: %q", apart, b.words())
		}
	}
}

func TestNothingIsLoadedOrRun(t *testing.T) {
	for name, result := range pages {
		t.Run(name, func(t *testing.T) { loadsNothing(t, parse(t, render(t, result()))) })
	}
}

func loadsNothing(t *testing.T, page *node) {
	t.Helper()
	var policy string
	for _, n := range page.all("") {
		if slices.Contains([]string{"script", "link", "iframe", "img", "object", "embed", "base", "form", "image", "use"}, n.name) {
			t.Errorf("there is a <%s>", n.name)
		}
		for k, v := range n.attr {
			if k == "src" || k == "style" || strings.HasPrefix(k, "on") || k == "href" && !strings.HasPrefix(v, "#") {
				t.Errorf("<%s %s=%q>", n.name, k, v)
			}
		}
		if n.attr["http-equiv"] == "Content-Security-Policy" {
			policy = n.attr["content"]
		}
	}
	sum := sha256.Sum256([]byte(page.all("style")[0].text.String()))
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
	if policy != want {
		t.Errorf("policy %q, want %q", policy, want)
	}
	if css := style; strings.Contains(css, "url(") || strings.Contains(css, "@import") {
		t.Error("the style sheet loads something")
	}
}

func TestAccessible(t *testing.T) {
	for name, result := range pages {
		t.Run(name, func(t *testing.T) { accessible(t, parse(t, render(t, result()))) })
	}
}

func accessible(t *testing.T, page *node) {
	t.Helper()
	ids := map[string]bool{}
	for _, n := range page.all("") {
		if id := n.attr["id"]; id != "" {
			if ids[id] {
				t.Errorf("id %q twice", id)
			}
			ids[id] = true
		}
	}
	for _, n := range page.all("") {
		refs := strings.Fields(n.attr["aria-labelledby"])
		if h := n.attr["href"]; h != "" {
			refs = append(refs, strings.TrimPrefix(h, "#"))
		}
		for _, id := range refs {
			if !ids[id] {
				t.Errorf("<%s> points to %q, which is not there", n.name, id)
			}
		}
		switch n.name {
		case "th":
			if n.attr["scope"] == "" {
				t.Errorf("<th>%s has no scope", n.words())
			}
		case "svg":
			if n.attr["aria-hidden"] != "true" && (n.attr["role"] != "img" || len(n.all("title")) != 1 || len(n.all("desc")) != 1) {
				t.Error("an svg is neither hidden from a screen reader nor described to it")
			}
		}
	}
}

func TestHostileNames(t *testing.T) {
	const evil = `</style></title><script>alert("x")</script><img src=x onerror='y'>&{{.}}`
	r := sample()
	c := r.Cells[7]
	c.Stack, c.Workload, c.Reason, c.Warnings = evil, evil, evil, []string{evil}
	r.Cells, r.StackOrder = append(r.Cells, c), append(r.StackOrder, evil)
	r.Experiment.Workloads = append(r.Experiment.Workloads, spec.Workload{Name: evil, Title: evil, RW: "randread"})
	r.Run.Stacks = append(r.Run.Stacks, record.Stack{
		Name: evil, Title: evil + "t", Role: evil, Unavailable: evil, Mend: evil, Durability: evil,
		DurabilityWhy: evil, Effective: map[string]string{evil: evil}, Mismatch: []string{evil}, QEMUArgs: []string{evil},
	})
	r.Run.ID, r.Run.Preset, r.Run.Version, r.Run.Status, r.Run.Reason, r.Warnings = evil, evil, evil, evil, evil, []string{evil}
	r.Run.Host = record.Host{
		Accelerator: "tcg", AcceleratorReason: evil, CPU: evil, Kernel: evil, Device: record.Device{Name: evil}, Neighbours: []string{evil},
		BootSeconds: []record.Boot{{Reason: evil, Args: []string{evil}}},
	}
	r.Best = &analyse.Best{Stack: evil, Tied: []string{evil}}
	r.Gains = []analyse.Gain{{Over: evil + "o", Role: evil, Workloads: []analyse.GainCell{{Workload: evil, Reason: evil}}}}

	out := render(t, r)
	page := parse(t, out)
	if n := len(page.all("script")) + len(page.all("img")); n != 0 {
		t.Errorf("%d hostile elements got through", n)
	}
	if bytes.Contains(out, []byte("<script")) || bytes.Contains(out, []byte("ZgotmplZ")) {
		t.Error("a hostile name was not escaped, or was escaped into nothing")
	}
	if !strings.Contains(page.all("h1")[0].words(), `<script>alert("x")</script>`) {
		t.Error("the name itself is no longer shown")
	}
}

// TestOddNumbers: figures that are no numbers print as a dash and draw nothing.
func TestOddNumbers(t *testing.T) {
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 1e300, 5e-324}
	r := sample()
	for i := range r.Cells {
		v := odd[i%len(odd)]
		for k := range r.Cells[i].Metrics {
			r.Cells[i].Metrics[k] = stat.Estimate{Value: v, Low: v, High: v}
		}
		for k := range r.Cells[i].Ratio {
			r.Cells[i].Ratio[k] = stat.Estimate{Value: v, Low: v, High: v}
		}
		for j := range r.Cells[i].Points {
			r.Cells[i].Points[j].Ratio = v
		}
	}
	out := render(t, r)
	parse(t, out)
	for _, s := range []string{"NaN", "Inf"} {
		if bytes.Contains(out, []byte(s)) {
			t.Errorf("the page has %q", s)
		}
	}
}

// TestSyncColumns: the latency of fdatasync has columns where a stack has it, and only under that workload.
func TestSyncColumns(t *testing.T) {
	r := sample()
	before := strings.Count(string(render(t, r)), "fdatasync mean")
	for i := range r.Cells {
		if c := &r.Cells[i]; c.Workload == loads[0].Name && c.Status == record.OK {
			c.Metrics[record.SyncMean] = stat.Estimate{Value: 7.5e6, Low: 7e6, High: 8e6}
		}
	}
	page := string(render(t, r))
	if n := strings.Count(page, "fdatasync mean"); before != 0 || n != 1 || strings.Contains(page, "fdatasync p99") {
		t.Errorf("%d columns, then %d", before, n)
	}
	if text := parse(t, []byte(page)).all("body")[0].words(); !strings.Contains(text, "7.5") {
		t.Error("the figure is not in the page")
	}
}

// TestSingleRound: an interval that is not known is said so and not drawn, and nothing is told from it.
func TestSingleRound(t *testing.T) {
	r := sample()
	r.Best.Ratio = stat.Unknown(.47)
	for i := range r.Gains {
		e := stat.Unknown(1.2)
		r.Gains[i].Overall, r.Gains[i].Differs = &e, false
		for j := range r.Gains[i].Workloads {
			r.Gains[i].Workloads[j] = analyse.GainCell{Workload: loads[j].Name, Ratio: &e}
		}
	}
	for i := range r.Cells {
		c := &r.Cells[i]
		c.Differs = false
		for k, e := range c.Metrics {
			c.Metrics[k] = stat.Unknown(e.Value)
		}
		for k, e := range c.Ratio {
			c.Ratio[k] = stat.Unknown(e.Value)
		}
	}
	page := parse(t, render(t, r))
	if got, want := page.all("h1")[0].words(), "it keeps 47 % of the host’s speed (95 % interval not known)."; !strings.HasSuffix(got, want) {
		t.Errorf("answer %q, want it to end in %q", got, want)
	}
	rows := heatRows(t, page)
	if got := rows["sata"][0].words(); got != "~ not known" {
		t.Errorf("a share of one round is %q", got)
	}
	if got := rows["host"][0].words(); got != "19.1k IOPS not known" {
		t.Errorf("a host of one round is %q", got)
	}
}

func TestEmptyResult(t *testing.T) {
	page := parse(t, render(t, analyse.Result{}))
	if got := page.all("h1")[0].words(); got != "This run cannot name a best safe way to give a virtual machine its disk." {
		t.Errorf("answer %q", got)
	}
}

func TestWriteFails(t *testing.T) {
	want := errors.New("disk full")
	if err := Write(failing{want}, sample()); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestSameResultSamePage(t *testing.T) {
	if !bytes.Equal(render(t, sample()), render(t, sample())) {
		t.Error("two renderings of one result differ")
	}
}

// TestSize holds the promise of docs/BENCHMARKS.md: 10,000 cells stay under 5 MB.
func TestSize(t *testing.T) {
	for _, shape := range [][2]int{{100, 100}, {1000, 10}, {10, 1000}} {
		if n := len(render(t, big(shape[0], shape[1], 12))); n >= 5_000_000 {
			t.Errorf("%d stacks and %d workloads make %d bytes, want less than 5 MB", shape[0], shape[1], n)
		}
	}
}

func BenchmarkWrite10000Cells(b *testing.B) {
	r := big(100, 100, 12)
	for b.Loop() {
		b.SetBytes(int64(len(render(b, r))))
	}
}
