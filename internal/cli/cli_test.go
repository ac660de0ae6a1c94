package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/revert"
)

// runDoctorAs runs `iotax doctor` whose doer ends as f does.
func runDoctorAs(ctx context.Context, f func() error) (code int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	a := testApp("/", nil, &out, &errOut, "doctor")
	a.examine = func(context.Context, doctorOptions) error { return f() }
	code = a.main(ctx)
	return code, out.String(), errOut.String()
}

func TestErrorsForTheirReaders(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, tt := range map[string]struct {
		ctx  context.Context
		err  error
		code errkind.Code
		says string
	}{
		"none":                 {t.Context(), nil, errkind.OK, ""},
		"user fault":           {t.Context(), errkind.WithHint(errkind.Userf("no fio"), "install it"), errkind.Usage, "no fio; install it\n"},
		"bug":                  {t.Context(), fmt.Errorf("read: %w", syscall.EIO), errkind.Bug, "iotax: read: input/output error\n"},
		"one of a list":        {t.Context(), errkind.List{errors.New("a")}, errkind.Usage, "a\n"},
		"all of a list":        {t.Context(), errkind.List{errors.New("a"), errors.New("b")}, errkind.Usage, "a\nb\n2 faults, nothing was touched.\n"},
		"partial":              {t.Context(), errkind.New(errkind.Partial, "the budget ended"), errkind.Partial, "the budget ended\n"},
		"busy":                 {t.Context(), errkind.New(errkind.Busy, "run 7k2f is going on"), errkind.Busy, "run 7k2f is going on\n"},
		"signal":               {cancelled, fmt.Errorf("fio: %w", context.Canceled), errkind.Interrupted, "interrupted\n"},
		"fault after a signal": {cancelled, errors.New("apt-get: signal: killed"), errkind.Interrupted, "apt-get: signal: killed\n"},
		"own code of a cancelled run": {
			cancelled, &errkind.Error{Code: errkind.Interrupted, Err: errors.New("stored: 3 rounds")},
			errkind.Interrupted, "stored: 3 rounds\n",
		},
		"cancelled from inside": {t.Context(), context.Canceled, errkind.Bug, "iotax: context canceled\n"},
		"reader went away":      {t.Context(), fmt.Errorf("write: %w", syscall.EPIPE), errkind.Interrupted, ""},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := runDoctorAs(tt.ctx, func() error { return tt.err })
			if errkind.Code(code) != tt.code || stdout != "" {
				t.Errorf("code %d, want %d; stdout %q", code, tt.code, stdout)
			}
			if diff := cmp.Diff(tt.says, stderr); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Go ends a program that panics with 2, our code for a fault of the user.
func TestAPanicIsABug(t *testing.T) {
	code, _, stderr := runDoctorAs(t.Context(), func() error { panic("index out of sense") })
	if errkind.Code(code) != errkind.Bug || !strings.Contains(stderr, "index out of sense") || !strings.Contains(stderr, "cli_test.go") {
		t.Errorf("code %d, stderr %s", code, stderr)
	}
}

// What a killed iotax left behind goes; what belongs to a living one stays.
func TestCleanSweepsTheCache(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", filepath.Join(dir, "tmp"))
	cache := filepath.Join(dir, "cache")
	var dead []string
	for _, name := range []string{"cache/caps/iotax-aio-1", "cache/guest/.build-1", "cache/kernel/.fetch-1", "tmp/iotax-doctor-1"} {
		path := filepath.Join(dir, name)
		dead = append(dead, path)
		if err := os.MkdirAll(filepath.Join(path, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	alive, err := revert.NewTemp(filepath.Join(cache, "guest"), "other-")
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	var out, said bytes.Buffer
	a := testApp("/", map[string]string{"IOTAX_STATE": filepath.Join(dir, "state"), "IOTAX_CACHE": cache}, &out, &said, "clean")
	a.tidy = a.runClean
	if code := a.main(t.Context()); code != 0 {
		t.Fatalf("code %d: %s", code, said.String())
	}
	for _, path := range dead {
		if _, err := os.Stat(path); err == nil || !strings.Contains(said.String(), path) {
			t.Errorf("%s: %v; said %s", path, err, said.String())
		}
	}
	if _, err := os.Stat(alive.Dir); err != nil {
		t.Error(err)
	}
}

func TestPerhaps(t *testing.T) {
	words := []string{"clean", "list", "run"}
	for in, want := range map[string]string{
		"lsit": `did you mean "list"?`, "RUN": `did you mean "run"?`, "xyzzy": "known: clean, list, run",
	} {
		if got := perhaps(in, words); got != want {
			t.Errorf("perhaps(%q) = %s, want %s", in, got, want)
		}
	}
	if got := perhaps("x", nil); got != "there is none" {
		t.Errorf("of nothing: %s", got)
	}
}

func TestManPage(t *testing.T) {
	root := testApp("/", nil, nil, nil).root()
	page := string(manPage(root))
	for _, want := range []string{".TH IOTAX 1", ".SH NAME\niotax \\- ", `.SS "iotax run [RUN] [flags]"`, ".B \\-\\-preset NAME", ".B 130"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for n, line := range strings.Split(page, "\n") {
		if strings.HasPrefix(line, "'") {
			t.Errorf("line %d would be taken for a macro: %s", n+1, line)
		}
	}
}

func TestRoff(t *testing.T) {
	if diff := cmp.Diff("\\&.x\\-y\n\\&'z \\e", roff(".x-y\n'z \\")); diff != "" {
		t.Error(diff)
	}
}

// The command that is offered after an interruption measures where the run began.
func TestGoOn(t *testing.T) {
	for want, o := range map[string]runOptions{
		"iotax run --resume 7k2f":                                   {},
		"iotax run --resume 7k2f --scratch /mnt/fast":               {Scratch: "/mnt/fast"},
		"iotax run --resume 7k2f --device /dev/sdb --spdk /run/rpc": {Device: "/dev/sdb", Erase: true, SPDK: "/run/rpc"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := o.ended(record.Run{ID: "7k2f", Status: record.Partial}, context.Canceled, ctx)
		if errkind.CodeOf(err) != errkind.Interrupted || err.Error() != "interrupted; go on with: "+want {
			t.Errorf("%v (exit code %d), want %q", err, errkind.CodeOf(err), want)
		}
	}
}
