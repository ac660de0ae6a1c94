package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/lab"
)

func TestParse(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	o, err := parse(strings.Fields("-xen -memory 3GiB -disks 1GiB,512MiB -share .=/a:ro -share /x=/b -env K=V -env L=W -dir /a -timeout 5m -- ls -l"))
	if err != nil {
		t.Fatal(err)
	}
	want := options{timeout: 5 * time.Minute}
	want.Config = lab.Config{
		Xen: true, Memory: 3 << 30, CPUs: 2, Disks: []int64{1 << 30, 512 << 20},
		Shares: []lab.Share{{Dir: filepath.Clean(here), Path: "/a", ReadOnly: true}, {Dir: "/x", Path: "/b"}},
	}
	want.Argv, want.Env, want.Command.Dir = []string{"ls", "-l"}, []string{"K=V", "L=W"}, "/a"
	if d := cmp.Diff(want, o, cmp.AllowUnexported(options{})); d != "" {
		t.Error(d)
	}
	if o, err := parse([]string{"-disks", "", "true"}); err != nil || len(o.Disks) != 0 {
		t.Errorf("without disks: %v, %v", o.Disks, err)
	}
}

func TestFaults(t *testing.T) {
	for args, want := range map[string]string{
		"run":                     "no command to run",
		"run -memory much -- ls":  "much",
		"run -disks 1GiB,, -- ls": "disks",
		"run -share /a -- ls":     "want DIR=/PATH",
		"run -share /a=b -- ls":   "want DIR=/PATH",
		"dance":                   "usage: iotax-lab build",
		"":                        "usage: iotax-lab build",
	} {
		code, err := command(t.Context(), strings.Fields(args))
		if err == nil || code != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: code %d, %v; want %q", args, code, err, want)
		}
	}
}
