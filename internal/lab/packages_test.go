package lab

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/lab/inside"
)

// packages are those whose tests find more in the lab than on most hosts. Each is run in a machine of its own. They are dealt
// out to the lanes in turn, and those that take minutes come last: where time is short, it is one of them that is left out.
var packages = []struct {
	name   string   // path in this repository
	config Config   // of the machine
	skips  []string // what these tests may skip here, as patterns of their reasons; anything else is a fault
	run    string   // pattern of the tests to be run, "" for all
}{
	{"internal/hostenv", plain, nil, ""},
	{"internal/revert", plain, nil, ""},
	{"internal/provision", plain, nil, ""},
	{"internal/provision/ground", plain, nil, ""},
	{"internal/provision/slice", plain, nil, ""},
	{"internal/provision/device", plain, nil, ""},
	{"internal/rig", plain, nil, "OnZFS$"},
	{"internal/meter", plain, nil, ""},
	{"internal/lvm2", plain, nil, ""},
	{"internal/blkpg", plain, nil, ""},
	{"internal/provision/lvm", plain, nil, ""},
	{"internal/provision/zfs", plain, nil, ""},
	{"internal/xen/xlcfg", plain, nil, ""},
	{"internal/xen", Config{Xen: true, Memory: 2500 << 20, Disks: []int64{scratchSize}}, []string{"nine minutes to boot"}, ""},
}

// lanes is how many machines run at once: each keeps about one of the host's processors busy.
const lanes = 2

var plain = Config{Disks: []int64{scratchSize}}

const (
	scratchSize = 4 << 30
	// diskEnv names the whole disk that a test of a driver may overwrite. Where it is unset, such a test is skipped.
	diskEnv = "IOTAX_LAB_DISK=/dev/vdb"
	// packagePatience bounds the tests of one package.
	packagePatience = 15 * time.Minute
	// lastWords bounds what is shown of a test binary that ended in the middle, in bytes.
	lastWords = 8000
)

func TestPackagesInTheLab(t *testing.T) {
	t.Parallel()
	part(t, Host)
	for lane := range lanes {
		t.Run(fmt.Sprintf("lane %d", lane+1), func(t *testing.T) {
			t.Parallel()
			for i, p := range packages {
				if i%lanes == lane {
					t.Run(p.name, func(t *testing.T) { runPackage(t, p.name, p.config, p.skips, p.run) })
				}
			}
		})
	}
}

// runPackage runs the tests of a package inside the lab, in the package's folder as `go test` does.
func runPackage(t *testing.T, name string, c Config, skips []string, run string) {
	inTime(t)
	work := t.TempDir()
	if out, err := goTool(t, []string{"CGO_ENABLED=0"}, "test", "-c", "-o", filepath.Join(work, "tests"), "./"+name); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(work, "tests")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), packagePatience, fmt.Errorf("not done within %v", packagePatience))
	defer cancel()
	start := time.Now()
	var out bytes.Buffer
	code, err := boot(t, work, c).Run(ctx, Command{
		Command: inside.Command{
			Argv: []string{path.Join(workPath, "tests"), "-test.v", "-test.timeout=" + packagePatience.String(), "-test.run=" + run},
			Dir:  path.Join(sourcePath, filepath.ToSlash(name)), Env: []string{diskEnv},
		},
		Stdout: &out, Stderr: &out,
	})
	r := parse(out.String())
	t.Logf("%d passed, %d skipped, %d failed in %v", r.passed, len(r.skipped), len(r.failed), time.Since(start).Round(time.Second))
	for _, s := range r.skipped {
		t.Logf("skipped %s: %s", s.test, s.said)
		if !slices.ContainsFunc(skips, func(p string) bool { return regexp.MustCompile(p).MatchString(s.said) }) {
			t.Errorf("%s should not be skipped in the lab: it has what is missing, or the test belongs elsewhere", s.test)
		}
	}
	for _, f := range r.failed {
		t.Errorf("%s\n%s", f.test, f.said)
	}
	if said := out.String(); err != nil || code != 0 && len(r.failed) == 0 || r.passed == 0 {
		t.Errorf("exit code %d, %v\n%s", code, err, said[max(0, len(said)-lastWords):])
	}
}

// results are those of a test binary that was run with -test.v, subtests counted by themselves.
type results struct {
	passed          int
	skipped, failed []result
}

// result is a test and what it logged.
type result struct{ test, said string }

var (
	resultLine  = regexp.MustCompile(`^\s*--- (PASS|FAIL|SKIP): (\S+) \(`)
	currentLine = regexp.MustCompile(`^=== (?:RUN|CONT|NAME)\s+(\S+)`)
)

// parse reads the output of a test binary.
func parse(output string) (r results) {
	said, current := map[string][]string{}, ""
	for line := range strings.Lines(output) {
		if m := currentLine.FindStringSubmatch(line); m != nil {
			current = m[1]
		} else if m := resultLine.FindStringSubmatch(line); m != nil {
			result := result{m[2], strings.Join(said[m[2]], "\n")}
			switch m[1] {
			case "PASS":
				r.passed++
			case "FAIL":
				r.failed = append(r.failed, result)
			default:
				r.skipped = append(r.skipped, result)
			}
		} else if strings.HasPrefix(line, "    ") {
			said[current] = append(said[current], strings.TrimSpace(line))
		}
	}
	return r
}

func TestParseResults(t *testing.T) {
	got := parse(`=== RUN   TestOne
--- PASS: TestOne (0.00s)
=== RUN   TestTwo
=== RUN   TestTwo/a
    two_test.go:9: no KVM: cannot open /dev/kvm
=== RUN   TestTwo/b
    two_test.go:9: no KVM:
        /dev/kvm is not there
--- PASS: TestTwo (0.01s)
    --- SKIP: TestTwo/a (0.00s)
    --- SKIP: TestTwo/b (0.00s)
=== RUN   TestThree
=== PAUSE TestThree
=== RUN   TestFour
=== PAUSE TestFour
=== CONT  TestFour
=== CONT  TestThree
    three_test.go:3: wrong
=== NAME  TestFour
    four_test.go:4: no disk
--- SKIP: TestFour (0.00s)
--- FAIL: TestThree (0.00s)
FAIL
`)
	want := results{passed: 2, skipped: []result{
		{"TestTwo/a", "two_test.go:9: no KVM: cannot open /dev/kvm"},
		{"TestTwo/b", "two_test.go:9: no KVM:\n/dev/kvm is not there"},
		{"TestFour", "four_test.go:4: no disk"},
	}, failed: []result{{"TestThree", "three_test.go:3: wrong"}}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(results{}, result{})); d != "" {
		t.Error(d)
	}
}
