package lab

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/lab/inside"
)

// The tests of this file's neighbours boot the lab, which `make lab` does. They take some minutes and are skipped
// elsewhere.
func TestMain(m *testing.M) {
	inside.Main() // this program is the lab's first process
	os.Exit(m.Run())
}

// part builds a part of the lab or finds it.
func part(t *testing.T, p Part) string {
	t.Helper()
	if os.Getenv("IOTAX_LAB_TESTS") == "" {
		t.Skip("`make lab` runs this: it boots the lab and takes minutes")
	}
	dir, err := Build(t.Context(), p, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// minutesEnv bounds how long after their start parts of these tests may still begin, for a machine that has little time.
const minutesEnv = "IOTAX_LAB_MINUTES"

var started = time.Now()

// inTime skips a part that would begin too late.
func inTime(t *testing.T) {
	t.Helper()
	text := os.Getenv(minutesEnv)
	if text == "" {
		return
	}
	minutes, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatalf("%s=%s: expected a number", minutesEnv, text)
	}
	if time.Since(started).Minutes() > minutes {
		t.Skipf("NOT RUN: %s minutes had passed when its turn came (%s)", text, minutesEnv)
	}
}

// Where the lab sees what tests give it.
const (
	sourcePath = "/share/source" // this repository, read-only
	workPath   = "/share/work"   // the test's own folder
)

// repository is the root of this repository.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// boot starts a lab that sees the repository and the folder work, and ends it with the test.
func boot(t *testing.T, work string, c Config) *Machine {
	t.Helper()
	dir := part(t, Host)
	c.Shares = []Share{{Dir: repository(t), Path: sourcePath, ReadOnly: true}, {Dir: work, Path: workPath}}
	m, err := Start(t.Context(), dir, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// sh runs a script in the lab and returns what it says; the test fails when the script does.
func sh(t *testing.T, m *Machine, script string) string {
	t.Helper()
	var out bytes.Buffer
	code, err := m.Run(t.Context(), Command{
		Command: inside.Command{Argv: []string{"sh", "-euc", script}}, Stdout: &out, Stderr: &out,
	})
	if err != nil || code != 0 {
		t.Fatalf("%s\nexit code %d, %v\n%s", script, code, err, out.String())
	}
	return out.String()
}

// goTool runs a command of Go in the repository and returns its output.
func goTool(t *testing.T, env []string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Env = repository(t), append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}
