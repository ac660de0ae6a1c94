package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/jsonout"
	"github.com/iotax/iotax/internal/store"
)

// stored reads the newest run and its windows from the store of the state folder.
func (h *host) stored() (record.Run, []record.Window) {
	h.t.Helper()
	path := filepath.Join(h.state, "iotax.db")
	if _, err := os.Stat(path); err != nil {
		h.t.Fatal(err)
	}
	s, err := store.Open(path)
	if err != nil {
		h.t.Fatal(err)
	}
	defer s.Close()
	newest, err := s.Run("")
	if err != nil {
		h.t.Fatal(err)
	}
	windows, err := s.Windows(newest.ID, true)
	if err != nil {
		h.t.Fatal(err)
	}
	return newest, windows
}

// untilCounted waits until so many windows of counted rounds are stored.
func (r *run) untilCounted(n int) {
	r.t.Helper()
	r.untilSaid("agent ready after")
	r.until("counted windows", func() bool {
		_, windows := r.stored()
		return counted(windows) >= n
	})
}

// counted is how many windows belong to counted rounds.
func counted(windows []record.Window) (n int) {
	for _, w := range windows {
		if !w.Discard {
			n++
		}
	}
	return n
}

// countedRounds lists the rounds of counted windows, in order.
func countedRounds(windows []record.Window) (rounds []int) {
	for _, w := range windows {
		if !w.Discard && !slices.Contains(rounds, w.Round) {
			rounds = append(rounds, w.Round)
		}
	}
	return rounds
}

// untilSaid waits for a phrase on standard error.
func (r *run) untilSaid(phrase string) {
	r.t.Helper()
	r.until(phrase, func() bool { return strings.Contains(r.stderr.String(), phrase) })
}

// checkWindows fails the test when a block (one workload in one counted round) has a window twice, or lacks one; as many
// blocks as the run was cut may be short.
func checkWindows(t *testing.T, windows []record.Window, stacks, cuts int) {
	t.Helper()
	type block struct {
		round    int
		workload string
	}
	blocks := map[block]map[plan.Key]int{}
	for _, w := range windows {
		if w.Discard {
			continue
		}
		b := block{w.Round, w.Workload}
		if blocks[b] == nil {
			blocks[b] = map[plan.Key]int{}
		}
		blocks[b][plan.Key{Stack: w.Stack, Workload: w.Workload}]++
		if w.Status != record.OK || len(w.Raw) == 0 || w.Metrics[record.IOPS] <= 0 {
			t.Errorf("round %d, %s, %s: %s %s, %d bytes of raw output, metrics %v", w.Round, w.Stack, w.Workload, w.Status, w.Reason, len(w.Raw), w.Metrics)
		}
	}
	if len(blocks) == 0 {
		t.Error("no counted window is stored")
	}
	short := 0
	for b, cells := range blocks {
		if len(cells) != stacks+2 {
			if short++; short > cuts {
				t.Errorf("round %d, %s: %d cells, want %d", b.round, b.workload, len(cells), stacks+2)
			}
		}
		for cell, n := range cells {
			if n != 1 {
				t.Errorf("round %d, %s: %s was measured %d times", b.round, b.workload, cell.Stack, n)
			}
		}
	}
}

// read decodes a JSON report.
func read(t *testing.T, path string) (d jsonout.Document) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}
