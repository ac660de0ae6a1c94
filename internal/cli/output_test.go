package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/sys"
)

func TestAFailedOutputLeavesWhatWasThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.json")
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := testApp(dir, nil, nil, nil)
	broken := errors.New("broken")
	err := a.output(path, func(w io.Writer) error {
		_, err := w.Write([]byte("half"))
		return errors.Join(err, broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "before" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v: something was left behind", entries, err)
	}
}

func TestOutputToAFullDevice(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	a := testApp("/", nil, full, nil)
	if err := a.output("-", func(w io.Writer) error { _, err := io.WriteString(w, "text"); return err }); err == nil {
		t.Error("a lost report is no fault")
	}
}

func TestAnHTMLReportIsNotForATerminal(t *testing.T) {
	a := testApp("/", nil, io.Discard, io.Discard, "report", "--format", "html")
	a.IsTerminal = func(any) bool { return true }
	if code := errkind.Code(a.main(t.Context())); code != errkind.Usage {
		t.Errorf("code %d", code)
	}
}

func TestColour(t *testing.T) {
	for name, tt := range map[string]struct {
		terminal bool
		env      map[string]string
		want     bool
	}{
		"terminal":       {true, map[string]string{"TERM": "xterm"}, true},
		"pipe":           {false, nil, false},
		"NO_COLOR":       {true, map[string]string{"NO_COLOR": "1"}, false},
		"NO_COLOR empty": {true, map[string]string{"NO_COLOR": ""}, true},
		"dumb":           {true, map[string]string{"TERM": "dumb"}, false},
	} {
		a := testApp("/", tt.env, nil, nil)
		a.IsTerminal = func(any) bool { return tt.terminal }
		o := a.textOptions()
		if diff := cmp.Diff(tt.want, o.Color); diff != "" || o.Width != sys.DefaultWidth {
			t.Errorf("%s: %s width %d", name, diff, o.Width)
		}
	}
}
