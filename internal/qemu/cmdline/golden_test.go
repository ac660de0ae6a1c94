package cmdline_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/qemu/cmdline"
)

// TestGolden compares each guest's arguments with its file, one argument per line.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.args")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range machines("/vm") {
		args, err := cmdline.Args(c)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := strings.Join(args, "\n") + "\n"
		file := filepath.Join("testdata", name+".args")
		golden.Equal(t, file, got)
		files = slices.DeleteFunc(files, func(f string) bool { return f == file })
	}
	if len(files) > 0 && !*golden.Update {
		t.Errorf("golden files of no guest: %v", files)
	}
}

func TestDiskArgs(t *testing.T) {
	for _, c := range machines("/vm") {
		whole, err := cmdline.Args(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range c.Disks {
			args, err := cmdline.DiskArgs(d)
			if err != nil {
				t.Fatal(err)
			}
			if len(args) == 0 || len(args)%2 != 0 {
				t.Fatalf("DiskArgs(%s) = %q", d.Serial, args)
			}
			for i := 0; i < len(args); i += 2 { // block nodes are the same whatever else the guest has
				if args[i] == "-blockdev" && !slices.Contains(whole, args[i+1]) {
					t.Errorf("disk %s alone has %s, its guest has not", d.Serial, args[i+1])
				}
			}
		}
	}
}
