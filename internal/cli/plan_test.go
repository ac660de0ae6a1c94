package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/errkind"
)

// twoGuests needs a pc and a q35, and has more to do than time for it.
const twoGuests = `title: Two machines whose title is far too long for one line of a terminal that has eighty columns
size: 1GiB
budget: 1m
boots: 1
stacks:
  - name: disk
    bus: virtio-blk
    machine: q35
    matrix:
      cache: [none, directsync]
      aio: [threads, native, io_uring]
  - name: old
    bus: ide
workloads: [randread-4k-q1]
`

func TestPlan(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "two-guests.yaml")
	if err := os.WriteFile(file, []byte(twoGuests), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"default":    {"run", "--plan"},
		"quick":      {"run", "--plan", "--quick", "--seed", "7"},
		"two-guests": {"run", "--plan", "-f", file},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			a := testApp(dir, nil, &stdout, &stderr, args...) // without HOME: a plan needs no place to keep files
			a.Width = func(any) int { return 80 }
			if code := errkind.Code(a.main(t.Context())); code != errkind.OK || stderr.Len() > 0 {
				t.Fatalf("code %d, stderr %s", code, stderr.String())
			}
			for line := range strings.Lines(stdout.String()) {
				if len(line) > 81 {
					t.Errorf("%d columns: %s", len(line)-1, line)
				}
			}
			checkGolden(t, "plan/"+name+".golden", stdout.String())
		})
	}
}

func TestPlanOfAResumedRun(t *testing.T) {
	dir := t.TempDir()
	if err := storeRun(dir, "7k2f", "partial"); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	a := testApp(dir, map[string]string{"IOTAX_STATE": dir}, &stdout, &stderr, "run", "--plan", "--resume")
	if code := errkind.Code(a.main(t.Context())); code != errkind.OK {
		t.Fatalf("code %d, stderr %s", code, stderr.String())
	}
	if !strings.Contains(stdout.String(), "note:  run 7k2f keeps the 12 windows") || !strings.Contains(stdout.String(), "seed     41 ") {
		t.Error(stdout.String())
	}
}
