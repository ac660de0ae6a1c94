package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOnlyAStaticProgramBecomesTheFirstProcess(t *testing.T) {
	shell, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Skip(err)
	}
	if err := static(shell); err == nil || !strings.Contains(err.Error(), "CGO_ENABLED=0") {
		t.Errorf("the shell, which needs a loader, is taken: %v", err)
	}
	if err := static([]byte("#!/bin/sh\n")); err == nil {
		t.Error("a script is taken")
	}
}

func TestKernelWithoutDriversIsRefused(t *testing.T) {
	modules := t.TempDir()
	if err := os.Mkdir(filepath.Join(modules, "kernel"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := writeInitrd(filepath.Join(t.TempDir(), "initrd"), modules)
	if err == nil || !strings.Contains(err.Error(), "virtio_blk") && !strings.Contains(err.Error(), "CGO_ENABLED=0") {
		t.Errorf("got %v", err)
	}
}

// A machine that does not come up is ended, with what was made for it, and its words are told.
func TestMachineThatDoesNotStart(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	if m, err := Start(t.Context(), t.TempDir(), Config{}); err == nil {
		m.Close()
		t.Error("a machine without a kernel starts")
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
