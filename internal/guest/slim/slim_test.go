package slim

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRealFio slims the fio of this machine: the copy must need fewer libraries and still do I/O.
func TestRealFio(t *testing.T) {
	fio, err := exec.LookPath("fio")
	if err != nil {
		t.Skip("fio is not installed")
	}
	image, err := os.ReadFile(fio)
	if err != nil {
		t.Fatal(err)
	}
	before := bytes.Clone(image)
	small, dropped, err := Elf(image)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, image) {
		t.Error("the original was changed")
	}
	if len(dropped) == 0 {
		t.Skip("this fio has no needless libraries")
	}
	copied := filepath.Join(t.TempDir(), "fio")
	if err := os.WriteFile(copied, small, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	left, err := f.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	for _, lib := range left {
		if !kept.MatchString(lib) {
			t.Errorf("%s is still needed", lib)
		}
	}
	out, err := exec.Command(copied, "--name=t", "--filename="+filepath.Join(t.TempDir(), "data"), "--size=64k",
		"--rw=randrw", "--ioengine=libaio", "--iodepth=4").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "READ:") {
		t.Errorf("the copy cannot do I/O: %v\n%s", err, out)
	}
	again, dropped, err := Elf(small)
	if err != nil || len(dropped) != 0 || !bytes.Equal(again, small) {
		t.Errorf("slimming twice changed something: %v %v", dropped, err)
	}
}

func TestNoElf(t *testing.T) {
	if _, _, err := Elf([]byte("#!/bin/sh\n")); err == nil {
		t.Error("a script was slimmed")
	}
}
