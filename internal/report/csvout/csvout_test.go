package csvout

import (
	"bytes"
	"encoding/csv"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/text/reporttest"
)

// few workloads that show every status and a share served from RAM.
var few = []string{"randread-4k-q1", "read-256k"}

func TestGolden(t *testing.T) {
	for name, r := range map[string]analyse.Result{"default": reporttest.Only(reporttest.Default(), few...), "none": {}, "partial": reporttest.Only(reporttest.Partial(), few...), "published": reporttest.Only(reporttest.Published(), "randread-4k-q1")} {
		t.Run(name, func(t *testing.T) {
			path := "testdata/" + name + ".csv"
			var b bytes.Buffer
			if err := Write(&b, r); err != nil {
				t.Fatal(err)
			}
			golden.Equal(t, path, b.String())
			got := bytes.Clone(b.Bytes())
			rows, err := csv.NewReader(&b).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			want := 1
			for _, c := range r.Cells {
				want += len(record.MetricNames) + len(c.Derived)
				for _, name := range record.SyncNames {
					if _, has := c.Metrics[name]; has {
						want++
					}
				}
			}
			if len(rows) != want {
				t.Errorf("%d rows, want %d", len(rows), want)
			}
			if lines := bytes.Count(got, []byte("\r\n")); lines != len(rows) {
				t.Errorf("%d lines hold %d rows", lines, len(rows))
			}
		})
	}
}

// TestDocumentation compares the header with the table of docs/JSON.md.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../../docs/JSON.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## The same as CSV")
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(section, -1) {
		documented = append(documented, m[1])
	}
	if d := cmp.Diff(documented, Header); d != "" {
		t.Errorf("-documented +written:\n%s", d)
	}
}

// TestFullDisk: an error of the writer is an error of Write, also at the last flush.
func TestFullDisk(t *testing.T) {
	full := errors.New("no space")
	for _, r := range []analyse.Result{{}, reporttest.Default()} {
		if err := Write(failing{full}, r); !errors.Is(err, full) {
			t.Errorf("got %v", err)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
