package rig

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/vm"
	"github.com/iotax/iotax/internal/vm/vmtest"
)

// A guest that does not come up is started anew, as often as there is patience for.
func TestBootsAnew(t *testing.T) {
	image, dir := vmtest.Image(t), vmtest.Dir(t)
	binary := filepath.Join(dir, "silent")
	if err := os.WriteFile(binary, []byte("#!/bin/sh\necho >> "+dir+"/starts\nexec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	defer func(was []time.Duration) { patience = was }(patience)
	patience = []time.Duration{100 * time.Millisecond, 200 * time.Millisecond}
	var said []string
	s := &session{Rig: New(Config{Note: func(line string) { said = append(said, line) }})}
	_, err := s.boots(t.Context(), vm.Config{
		Binary: binary, Accel: "tcg", Machine: "q35", CPUs: 2, Memory: 256 << 20, Image: image, Dir: dir, Name: "guest",
	})
	if !errors.Is(err, vm.ErrNotReady) {
		t.Fatalf("%v", err)
	}
	starts, _ := os.ReadFile(filepath.Join(dir, "starts"))
	if n := strings.Count(string(starts), "\n"); n != len(patience) || len(said) != 1 || !strings.Contains(said[0], "started anew") {
		t.Errorf("%d starts, said %q", n, said)
	}
}
