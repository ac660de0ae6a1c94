package sys

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
)

func lookup(env map[string]string) func(string) (string, bool) {
	return func(key string) (string, bool) { v, ok := env[key]; return v, ok }
}

func TestFolders(t *testing.T) {
	for name, tt := range map[string]struct {
		env          map[string]string
		state, cache string
	}{
		"own":          {map[string]string{"IOTAX_STATE": "/s", "IOTAX_CACHE": "/c", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/s", "/c"},
		"own relative": {map[string]string{"IOTAX_STATE": "s/", "IOTAX_CACHE": "../c"}, "/cwd/s", "/c"},
		"xdg":          {map[string]string{"XDG_STATE_HOME": "/xs", "XDG_CACHE_HOME": "/xc", "HOME": "/h"}, "/xs/iotax", "/xc/iotax"},
		"xdg relative": {map[string]string{"XDG_STATE_HOME": "xs", "XDG_CACHE_HOME": "xc", "HOME": "/h"}, "/h/.local/state/iotax", "/h/.cache/iotax"},
		"home":         {map[string]string{"HOME": "/h"}, "/h/.local/state/iotax", "/h/.cache/iotax"},
		"empty is unset": {
			map[string]string{"IOTAX_STATE": "", "IOTAX_CACHE": "", "HOME": "/h"},
			"/h/.local/state/iotax", "/h/.cache/iotax",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := World{Env: lookup(tt.env), Dir: "/cwd"}
			state, err1 := w.StateDir()
			cache, err2 := w.CacheDir()
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{tt.state, tt.cache}, []string{state, cache}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNoHomeIsTheUsersFault(t *testing.T) {
	w := World{Env: lookup(nil)}
	_, err := w.StateDir()
	if errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), "IOTAX_STATE") {
		t.Errorf("want a usage fault that names IOTAX_STATE, got %v", err)
	}
}

func TestAbs(t *testing.T) {
	w := World{Dir: "/cwd"}
	for in, want := range map[string]string{"": "", "/a/b": "/a/b", "b": "/cwd/b", "../b": "/b"} {
		if got := w.Abs(in); got != want {
			t.Errorf("Abs(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSeedsDiffer(t *testing.T) {
	if a, b := randomSeed(), randomSeed(); a == b {
		t.Error("two seeds are equal")
	}
}

func TestABufferIsNoTerminal(t *testing.T) {
	var b bytes.Buffer
	if isTerminal(&b) || width(&b) != DefaultWidth {
		t.Error("a buffer passes for a terminal")
	}
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if isTerminal(f) || width(f) != DefaultWidth {
		t.Error("/dev/null passes for a terminal")
	}
}

func TestRun(t *testing.T) {
	out, err := Exec{}.Run(t.Context(), Command{
		Argv: []string{"sh", "-c", "cat; echo $V; pwd"}, Stdin: strings.NewReader("in\n"), Env: []string{"V=env"}, Dir: "/",
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("in\nenv\n/\n", string(out)); diff != "" {
		t.Error(diff)
	}
}

func TestRunShowsArgvAndStderr(t *testing.T) {
	out, err := Exec{}.Run(t.Context(), Command{Argv: []string{"sh", "-c", "echo half; echo 'no such pool' >&2; exit 3"}})
	var failure *CommandError
	var exit *exec.ExitError
	if !errors.As(err, &failure) || !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Fatalf("got %#v", err)
	}
	want := `sh -c 'echo half; echo '\''no such pool'\'' >&2; exit 3': exit status 3` + "\nno such pool"
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
	if string(out) != "half\n" {
		t.Errorf("output up to the failure is lost: %q", out)
	}
}

func TestRunOfAMissingProgramSaysHowToGetIt(t *testing.T) {
	_, err := Exec{}.Run(t.Context(), Command{Argv: []string{"iotax-no-such-program"}})
	if errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), "iotax doctor") {
		t.Errorf("got %v", err)
	}
}

// A command that is cancelled ends together with what it started: the child of the shell would otherwise live on.
func TestRunCancelledEndsTheWholeGroup(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := Exec{}.Run(ctx, Command{Argv: []string{"sh", "-c", "sleep 600 & echo $! > " + pidFile + "; wait"}})
		done <- err
	}()
	pid := waitFor(t, pidFile)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want a cancelled command", err)
	}
	for range 500 {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return // gone, or dead and waiting for its new parent
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %s outlived its command", pid)
}

func waitFor(t *testing.T, file string) string {
	t.Helper()
	for range 1000 {
		if b, err := os.ReadFile(file); err == nil && bytes.HasSuffix(b, []byte("\n")) {
			return strings.TrimSpace(string(b))
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the command did not start")
	return ""
}

// parentEnv makes this test's binary the parent that is killed below.
const parentEnv = "IOTAX_TEST_PARENT"

// A parent that is killed outright cannot end what it started: the kernel does.
func TestRunEndsWithItsParent(t *testing.T) {
	if os.Getenv(parentEnv) != "" {
		_, err := Exec{}.Run(t.Context(), Command{Argv: []string{"sh", "-c", "echo $$; exec sleep 600"}, Stdout: os.Stdout})
		t.Fatal(err)
	}
	said, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	parent := exec.Command(os.Args[0], "-test.run=^TestRunEndsWithItsParent$")
	parent.Env = append(os.Environ(), parentEnv+"=1")
	parent.Stdout = theirs
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	if _, err := said.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = parent.Wait()       // it was killed
	_, _ = io.ReadAll(said) // ends when the child has, which holds the other end
}

func TestRunWritesWhereItIsTold(t *testing.T) {
	var told bytes.Buffer
	out, err := Exec{}.Run(t.Context(), Command{Argv: []string{"echo", "x"}, Stdout: &told})
	if err != nil || len(out) > 0 || told.String() != "x\n" {
		t.Errorf("told %q, returned %q, %v", told.String(), out, err)
	}
}

func TestCommandErrorKeepsTheLastWords(t *testing.T) {
	e := &CommandError{Argv: []string{"x"}, Stderr: strings.Repeat("noise\n", 1000) + "the cause\n", Err: errors.New("exit status 1")}
	if text := e.Error(); len(text) > stderrShown+100 || !strings.HasSuffix(text, "the cause") {
		t.Errorf("%d bytes, ends with %q", len(text), text[len(text)-20:])
	}
}

func TestQuote(t *testing.T) {
	for _, tt := range []struct {
		argv []string
		want string
	}{
		{[]string{"qemu-img", "create", "-f", "raw", "/a/b.img", "1G"}, "qemu-img create -f raw /a/b.img 1G"},
		{[]string{"a", "", "b c"}, "a '' 'b c'"},
		{[]string{"it's", "$HOME", "*", "a\nb"}, `'it'\''s' '$HOME' '*'` + " 'a\nb'"},
		{nil, ""},
	} {
		if got := Quote(tt.argv); got != tt.want {
			t.Errorf("Quote(%q) = %s, want %s", tt.argv, got, tt.want)
		}
	}
}

// What Quote writes is read back by a real shell as the same arguments.
func TestQuoteIsReadBackByAShell(t *testing.T) {
	argv := []string{"a b", "it's", `back\slash`, "$(id)", "`id`", "tab\there", "ä", `"double"`}
	out, err := Exec{}.Run(t.Context(), Command{Argv: []string{"sh", "-c", "for a in " + Quote(argv) + `; do printf '%s\n' "$a"; done`}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(argv, strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")); diff != "" {
		t.Error(diff)
	}
}
