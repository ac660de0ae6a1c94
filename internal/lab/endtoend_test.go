package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/lab/inside"
)

// A run inside the lab boots guests inside the guest: they run on the KVM that QEMU's emulated processor carries, since
// emulation inside emulation takes a minute and more for what this does in fifteen seconds. Windows take longer than
// planned, so the budgets are wider than the presets'.
var wholeRuns = []struct {
	name     string
	args     []string // of `iotax run`
	file     string   // the experiment, for `iotax run -f`; "" for a preset
	config   Config
	needs    []string // stacks that must have been measured here, where most hosts cannot offer them
	verdicts bool     // on the preset's statements
}{
	{
		name:     "local-disks",
		args:     []string{"--preset", "local-disks", "--accel", "kvm", "--budget", "10m"},
		config:   Config{Memory: 3 << 30, Disks: []int64{scratchSize}},
		needs:    []string{"passthrough", "lvm", "raw", "raw-writeback", "null-co"},
		verdicts: true,
	},
	{
		name:     "zfs-volumes",
		args:     []string{"--preset", "zfs-volumes", "--accel", "kvm", "--budget", "10m"},
		config:   Config{Memory: 3 << 30, Disks: []int64{scratchSize}},
		needs:    []string{"file", "file-ide", "zvol-4k-lz4", "zvol-128k-off", "zvol-16k-zstd", "zvol-4k-sync"},
		verdicts: true,
	},
	{
		name:   "zfs-volumes under Xen",
		args:   []string{"--budget", "10m"},
		file:   "extends: zfs-volumes\nstacks: [xen-file, xen-zvol-4k, xen-zvol-128k, xen-pvh-zvol-4k]\n",
		config: Config{Xen: true, Memory: 3 << 30, Disks: []int64{scratchSize}},
		needs:  []string{"xen-file", "xen-zvol-4k", "xen-zvol-128k", "xen-pvh-zvol-4k"},
	},
}

// runPatience bounds one run, boots and filling included.
const runPatience = 20 * time.Minute

func TestWholeRunsInTheLab(t *testing.T) {
	t.Parallel()
	part(t, Host)
	program, err := os.ReadFile(filepath.Join(repository(t), "bin", "iotax"))
	if err != nil {
		t.Fatalf("%v: `make build` leaves it there", err)
	}
	for _, r := range wholeRuns {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel() // a run keeps about one of the host's processors busy
			inTime(t)
			work := t.TempDir()
			if err := os.WriteFile(filepath.Join(work, "iotax"), program, 0o755); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"run", "--scale", "tiny", "--no-progress", "--json", workPath + "/result.json"}, r.args...)
			if r.file != "" {
				if err := os.WriteFile(filepath.Join(work, "experiment.yaml"), []byte(r.file), 0o644); err != nil {
					t.Fatal(err)
				}
				args = append(args, "-f", workPath+"/experiment.yaml")
			}
			m := boot(t, work, r.config)
			before := sh(t, m, leftovers)
			start := time.Now()
			said := iotax(t, m, args...)
			t.Logf("took %v\n%s", time.Since(start).Round(time.Second), said)
			if after := sh(t, m, leftovers); after != before {
				t.Errorf("the run left something.\nbefore:\n%s\nafter:\n%s", before, after)
			}
			checkResult(t, filepath.Join(work, "result.json"), r.needs, r.verdicts)
		})
	}
}

// leftovers lists what a run makes on a host and must take away again.
const leftovers = `vgs --noheadings -o vg_name; lvs --noheadings -o lv_name; zpool list -H -o name; losetup -n -O NAME;
	lsblk -rno NAME,TYPE; ls /dev/mapper; { command -v xl >/dev/null && xl list 2>/dev/null; } | awk '{ print $1 }'`

// iotax runs the program in the lab and returns what it says.
func iotax(t *testing.T, m *Machine, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), runPatience, fmt.Errorf("not done within %v", runPatience))
	defer cancel()
	var out bytes.Buffer
	code, err := m.Run(ctx, Command{
		Command: inside.Command{Argv: append([]string{workPath + "/iotax"}, args...)}, Stdout: &out, Stderr: &out,
	})
	if err != nil || code != 0 {
		t.Fatalf("iotax %s: exit code %d, %v\n%s", strings.Join(args, " "), code, err, out.String())
	}
	return out.String()
}

// checkResult holds a result to what every run of a preset promises: each stack is measured or says why not, each
// statement has its verdict, and the stacks that the lab is there for were measured.
func checkResult(t *testing.T, path string, needs []string, verdicts bool) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Run    struct{ Status, Scale, Note string }
		Stacks []struct{ Name, Unavailable, Mend string }
		Cells  []struct {
			Stack, Workload, Status, Reason string
			Rounds                          int
		}
		Verdicts []struct{ Statement, Verdict, Reason string }
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if r.Run.Scale != "tiny" || r.Run.Note == "" {
		t.Errorf("scale %q, note %q", r.Run.Scale, r.Run.Note)
	}
	measured := map[string]int{}
	for _, c := range r.Cells {
		if c.Rounds > 0 {
			measured[c.Stack]++
		} else if c.Reason == "" {
			t.Errorf("%s under %s: no rounds and no reason", c.Stack, c.Workload)
		}
	}
	for _, s := range r.Stacks {
		t.Logf("%-24s %3d cells %s", s.Name, measured[s.Name], s.Unavailable)
		if measured[s.Name] == 0 && s.Unavailable == "" {
			t.Errorf("%s: neither measured nor unavailable", s.Name)
		}
		if slices.Contains(needs, s.Name) && s.Unavailable != "" {
			t.Errorf("%s should be measured here: %s", s.Name, s.Unavailable)
		}
	}
	for _, name := range needs {
		if measured[name] == 0 {
			t.Errorf("%s has no cell that was measured", name)
		}
	}
	if verdicts && len(r.Verdicts) == 0 {
		t.Error("no verdicts")
	}
	for _, v := range r.Verdicts {
		if !slices.Contains([]string{"holds", "does not hold", "cannot tell"}, v.Verdict) {
			t.Errorf("%s: verdict %q", v.Statement, v.Verdict)
		}
		t.Logf("%-14s %s %s", v.Verdict, v.Statement, v.Reason)
	}
}
