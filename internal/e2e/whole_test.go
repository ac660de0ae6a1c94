package e2e

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/jsonout"
)

// A whole run as a user starts it, the accelerator found by itself, and every way to see its result again.
func TestWholeRun(t *testing.T) {
	h := newHost(t)
	file := filepath.Join(h.dir, "result.json")
	r := h.iotax(0, "run", "-f", "testdata/small.yaml", "--json", file, "--seed", "41", "--qemu", h.qemu)
	says(t, r.stdout.String(), "share of the host", "4k rand read q4", "image", "host again (control)", "null", "Report: "+h.state)
	says(t, r.stderr.String(), "small: 3 stacks x 2 workloads", "filling 3 volumes", "agent ready after")

	checkContract(t, file)
	d := read(t, file)
	if d.Schema != "iotax/1" || d.Run.Status != record.Complete || d.Run.Seed != 41 || d.Run.Preset != "small" || d.Run.Ended == nil {
		t.Errorf("%s, run %+v", d.Schema, d.Run)
	}
	if e := d.Efficiency; e == nil || *e <= 0.8 || *e > 1 {
		t.Errorf("efficiency %v, want more than 0.8", e)
	}
	if len(d.Cells) != 5*2 || len(d.Host.Boots) != 1 {
		t.Errorf("%d cells in %d boots, want 10 in one", len(d.Cells), len(d.Host.Boots))
	}
	for _, c := range d.Cells {
		checkCell(t, c)
	}

	run, windows := h.stored()
	checkWindows(t, windows, 3, 0)
	if run.ID != d.Run.ID || len(windows)%10 != 0 || len(windows) < 30 {
		t.Errorf("%d windows of run %s are stored, want at least a priming round and two others of 10", len(windows), run.ID)
	}
	checkReports(t, h, d, file)
}

func checkCell(t *testing.T, c jsonout.Cell) {
	t.Helper()
	buffered := c.Stack == "image" && c.Workload == "read"
	if c.Status == record.Withheld && buffered && (strings.Contains(c.Reason, "RAM") || strings.Contains(c.Reason, "speeds up")) {
		return // on a quick host the page cache has all of a small volume soon, in the middle of a window
	}
	if disturbed(c) {
		t.Logf("cell %s, %s: %s", c.Stack, c.Workload, c.Reason)
		return
	}
	if c.Status != record.OK || c.Rounds < 2 || len(c.Points) != c.Rounds {
		t.Errorf("cell %+v, want status ok and two rounds", c)
		return
	}
	if c.Baseline != (c.Stack == "host") || c.Baseline != (len(c.Ratio) == 0) {
		t.Errorf("cell %s, %s: baseline %v, ratio %v", c.Stack, c.Workload, c.Baseline, c.Ratio)
	}
	// High percentiles are left out where few I/Os were made.
	for _, metric := range []string{record.IOPS, record.Bandwidth, record.ClatMean, record.ClatP50} {
		if _, has := c.Metrics[metric]; !has {
			t.Errorf("cell %s, %s has no %s: %v", c.Stack, c.Workload, metric, c.Metrics)
		}
	}
	for _, estimates := range []map[string]jsonout.Estimate{c.Metrics, c.Ratio} {
		for metric, e := range estimates {
			if e.Value <= 0 || e.Low == nil || e.High == nil || *e.Low > e.Value || *e.High < e.Value {
				t.Errorf("cell %s, %s: %s is %+v, want a value within its interval", c.Stack, c.Workload, metric, e)
			}
		}
	}
}

func checkReports(t *testing.T, h *host, d jsonout.Document, file string) {
	t.Helper()
	again := h.iotax(0, "report", d.Run.ID, "--format", "json").stdout.String()
	if first, err := os.ReadFile(file); err != nil || string(first) != again {
		t.Errorf("the stored run gives another document than the run itself did (%v):\n%s\n%s", err, first, again)
	}
	page, err := os.ReadFile(filepath.Join(h.state, d.Run.ID+".html"))
	if err != nil || !bytes.HasPrefix(bytes.ToLower(page), []byte("<!doctype html>")) || !bytes.Contains(page, []byte(d.Run.ID)) {
		t.Errorf("the HTML report: %v, %d bytes", err, len(page))
	}
	rows, err := csv.NewReader(strings.NewReader(h.iotax(0, "report", "--format", "csv").stdout.String())).ReadAll()
	want := 1
	for _, c := range d.Cells {
		want += 6 + len(c.Derived)
		for metric := range c.Metrics {
			if strings.HasPrefix(metric, "sync_") {
				want++
			}
		}
	}
	if err != nil || len(rows) != want {
		t.Errorf("%d rows of CSV, %v; want %d: a header, six for each cell and its evidence", len(rows), err, want)
	}
	says(t, h.iotax(0, "report").stdout.String(), d.Run.ID, "share of the host")
	says(t, h.iotax(0, "list").stdout.String(), d.Run.ID, "small")
	says(t, h.iotax(2, "run", "--resume", d.Run.ID).stderr.String(), "is complete")
	if said := h.iotax(0, "clean").stderr.String(); said != "" {
		t.Errorf("after a run that ended well, clean says %q", said)
	}
}
