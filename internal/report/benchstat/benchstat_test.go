package benchstat

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

const rounds = 6

// result is a run of six rounds, in which the guest has half of the host's speed.
func result() analyse.Result {
	exp := spec.Experiment{
		Name: "test", MinRounds: 2, MaxRounds: 9, Target: 0.05,
		Stacks:    []spec.Stack{{Name: "virtio-blk"}, {Name: "sata"}},
		Workloads: []spec.Workload{{Name: "randread-4k-q1", RW: "randread", BS: 4096, IODepth: 1}, {Name: "read-256", RW: "read", BS: 256 << 10, IODepth: 4}},
	}
	run := record.Run{
		ID: "7k2fabcd", Preset: "test", Started: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC),
		Host: record.Host{CPU: "A CPU  @ 3 GHz", Accelerator: "kvm", GuestCPUs: 2, Device: record.Device{Model: "Disk 9"}},
	}
	var windows []record.Window
	for round := range rounds {
		for i, stack := range []string{spec.Host, spec.Control, "virtio-blk", "sata"} {
			for _, w := range exp.Workloads {
				iops := []float64{40_000, 40_000, 20_000, 0}[i] * (1 + 0.01*float64((round*7+i*3)%5))
				m := map[string]float64{
					record.IOPS: iops, record.Bandwidth: iops * float64(w.BS), record.ClatMean: 1e9 / iops, record.ClatP99: 3e9 / max(iops, 1),
				}
				windows = append(windows, record.Window{
					Round: round + 1, Stack: stack, Workload: w.Name, Status: record.OK, Timed: int64(800 * time.Millisecond), Metrics: m,
				})
			}
		}
	}
	return analyse.Analyse(run, exp, windows)
}

func write(t *testing.T, r analyse.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	golden.Equal(t, filepath.Join("testdata", "rounds.want"), write(t, result()))
}

// line is one result as a reader of the format sees it.
type line struct {
	name   string
	iters  int64
	values map[string]float64
}

var unitOf = regexp.MustCompile(`^\S+$`)

// parse reads the published format strictly: configuration lines, unit metadata, results; anything else must be meant to be
// passed over.
func parse(t *testing.T, text string) (results []line, config, better map[string]string) {
	t.Helper()
	config, better = map[string]string{}, map[string]string{}
	for n, s := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		fail := func(why string) { t.Fatalf("line %d: %s: %q", n+1, why, s) }
		fields := strings.Fields(s)
		switch {
		case strings.HasPrefix(s, "#"):
		case strings.HasPrefix(s, "Unit "):
			value, ok := strings.CutPrefix(fields[len(fields)-1], "better=")
			if len(fields) != 3 || !ok || value != "higher" && value != "lower" {
				fail("no unit metadata")
			}
			better[fields[1]] = value
		case strings.HasPrefix(s, "Benchmark"):
			if unicode.IsLower(rune(strings.TrimPrefix(s, "Benchmark")[0])) || len(fields) < 4 || len(fields)%2 != 0 {
				fail("no result")
			}
			iters, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil || iters < 1 {
				fail("no iteration count")
			}
			l := line{fields[0], iters, map[string]float64{}}
			for i := 2; i < len(fields); i += 2 {
				v, err := strconv.ParseFloat(fields[i], 64)
				if _, twice := l.values[fields[i+1]]; err != nil || twice || !unitOf.MatchString(fields[i+1]) {
					fail("no measurement")
				}
				l.values[fields[i+1]] = v
			}
			results = append(results, l)
		default:
			key, value, ok := strings.Cut(s, ": ")
			if !ok || key == "" || value == "" || strings.ContainsFunc(key, func(r rune) bool { return unicode.IsUpper(r) || unicode.IsSpace(r) }) || !unicode.IsLower(rune(key[0])) {
				fail("neither configuration nor result nor comment")
			}
			config[key] = value
		}
	}
	return results, config, better
}

func TestFormat(t *testing.T) {
	results, config, better := parse(t, write(t, result()))
	if config["cpu"] != "A CPU @ 3 GHz" || config["accelerator"] != "kvm" || config["device"] != "Disk 9" || len(config) != 3 {
		t.Errorf("configuration %v", config)
	}
	if better["IOPS"] != "higher" || better["clat-p99-ns"] != "lower" || len(better) != len(units) {
		t.Errorf("units %v", better)
	}
	count := map[string]int{}
	for _, l := range results {
		count[l.name]++
		if v := l.values["ns/op"] * l.values["IOPS"]; v < 0.9999e9 || v > 1.0001e9 {
			t.Errorf("%s: %v ns/op and %v IOPS", l.name, l.values["ns/op"], l.values["IOPS"])
		}
		if done := l.values["IOPS"] * 0.8; float64(l.iters) < done-1 || float64(l.iters) > done+1 {
			t.Errorf("%s: %d iterations, want about %g", l.name, l.iters, done)
		}
		for unit := range l.values {
			if _, known := better[unit]; !known && unit != "ns/op" {
				t.Errorf("nothing says what is better of %s", unit)
			}
		}
	}
	for _, stack := range []string{"host", "host-again", "virtio-blk"} { // sata has no number
		for _, load := range []string{"randread-4k-q1", "read-256"} {
			name := fmt.Sprintf("BenchmarkDisk/stack=%s/workload=%s-2", stack, load)
			if count[name] != rounds {
				t.Errorf("%d lines of %s, want one for each of %d rounds", count[name], name, rounds)
			}
			delete(count, name)
		}
	}
	if len(count) > 0 {
		t.Errorf("more than was measured: %v", count)
	}
}

func TestNames(t *testing.T) {
	for in, want := range map[string]string{"virtio-blk": "virtio-blk", "a b/c=d": "a_b_c_d", "4K+Q1.x_y": "4K+Q1.x_y", "Größe\n": "Gr__e_"} {
		if got := part(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	for in, want := range map[float64]string{1234567.8: "1234570", 0.000012345678: "0.0000123457", 5: "5", 1e12: "1000000000000"} {
		if got := number(in); got != want {
			t.Errorf("%g is written %q, want %q", in, got, want)
		}
	}
}

func TestEmptyRun(t *testing.T) {
	results, _, _ := parse(t, write(t, analyse.Analyse(record.Run{ID: "x"}, spec.Experiment{}, nil)))
	if len(results) > 0 {
		t.Errorf("%d results of nothing", len(results))
	}
}

// TestRealBenchstat lets benchstat, where there is one, compare the stacks.
func TestRealBenchstat(t *testing.T) {
	program, err := exec.LookPath("benchstat")
	if err != nil {
		t.Skip("there is no benchstat here (go install golang.org/x/perf/cmd/benchstat@latest)")
	}
	file := filepath.Join(t.TempDir(), "rounds.txt")
	if err := os.WriteFile(file, []byte(write(t, result())), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "-col", "/stack", "-row", "/workload", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{"virtio-blk", "-50.", "p=0.002", "cpu: A CPU @ 3 GHz", "randread-4k-q1", "IOPS", "clat-p99-sec"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("benchstat does not say %q:\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "parsing") || strings.Contains(string(out), "missing") {
		t.Errorf("benchstat complains:\n%s", out)
	}
}
