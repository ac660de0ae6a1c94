package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/store"
)

// What a run writes at its end is under the limit that it was given, in every form.
func TestReportsUnderALimit(t *testing.T) {
	dir := t.TempDir()
	if err := storeRun(dir, "7k2f", record.Complete); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(filepath.Join(dir, storeFile))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	run, err := s.Run("")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		limit      *analyse.Limit
		text, json string
	}{
		"none":    {nil, "Report: ", `"limit": null`},
		"limited": {&analyse.Limit{Metric: record.ClatP99, NS: 5e6}, "a limit on the latency could choose", `"metric": "clat_p99_ns"`},
	} {
		var stdout bytes.Buffer
		a := testApp(dir, nil, &stdout, &stdout)
		o := runOptions{Limit: tt.limit, JSON: filepath.Join(dir, name+".json"), HTML: filepath.Join(dir, name+".html")}
		if err := a.reports(o, s, run); err != nil {
			t.Fatal(err)
		}
		json, err := os.ReadFile(o.JSON)
		if err != nil || !strings.Contains(string(json), tt.json) {
			t.Errorf("%s: %q is not in the JSON; %v", name, tt.json, err)
		}
		// Words may stand on two lines.
		if words := strings.Join(strings.Fields(stdout.String()), " "); !strings.Contains(words, strings.TrimSpace(tt.text)) {
			t.Errorf("%s: %q is not in\n%s", name, tt.text, stdout.String())
		}
		if page, err := os.ReadFile(o.HTML); err != nil || len(page) == 0 {
			t.Errorf("%s: no page; %v", name, err)
		}
	}
}
