package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/measure"
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

// A guest that is lost while it is looked at is started anew, once, and the boot says why; any other error is no such case.
func TestLostWhileLookedAt(t *testing.T) {
	stuck := fmt.Errorf("guest: probe: %w", guest.ErrStuck)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		ctx    context.Context
		fails  []error
		reason string // of the last try
		notes  int
	}{
		"first try":           {t.Context(), []error{nil}, "planned", 0},
		"stuck once":          {t.Context(), []error{stuck, nil}, stuck.Error(), 1},
		"silent once":         {t.Context(), []error{guest.ErrSilent, nil}, guest.ErrSilent.Error(), 1},
		"stuck twice":         {t.Context(), []error{stuck, stuck}, stuck.Error(), 1},
		"something else":      {t.Context(), []error{errors.New("no such disk")}, "planned", 0},
		"stuck, and the user": {ended, []error{stuck}, "planned", 0},
	} {
		t.Run(name, func(t *testing.T) {
			tries, notes, last := 0, 0, ""
			s, err := anew(tt.ctx, func(string) { notes++ }, "planned", func(reason string) (measure.Session, error) {
				tries, last = tries+1, reason
				if err := tt.fails[tries-1]; err != nil {
					return nil, err
				}
				return &session{}, nil
			})
			if want := tt.fails[len(tt.fails)-1]; !errors.Is(err, want) || (s == nil) != (want != nil) || tries != len(tt.fails) || last != tt.reason || notes != tt.notes {
				t.Errorf("%v, %v after %d tries and %d notes, the last for %q", s, err, tries, notes, last)
			}
		})
	}
}
