package kernel

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// packageTools puts an apt-cache that knows a kernel, and the given apt-get, on a PATH of their own.
func packageTools(t *testing.T, aptGet string) {
	t.Helper()
	bin := t.TempDir()
	for name, body := range map[string]string{
		"apt-cache": `case $3 in linux-image-amd64) echo 'Depends: linux-image-6.1.0-1-amd64 (= 1)' ;; esac`,
		"apt-get":   aptGet,
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
}

// An apt-get that is interrupted is ended with its children, which hold its output open, and is no fault of the user.
func TestInterruptedDownload(t *testing.T) {
	packageTools(t, "sleep 600 &\nwait")
	ctx, cancel := context.WithCancel(t.Context())
	cache := t.TempDir()
	o := Options{Root: t.TempDir(), Cache: cache, Log: func(string) { cancel() }}
	if _, err := Find(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the cancellation", err)
	}
	if left, err := os.ReadDir(filepath.Join(cache, "kernel")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := Find(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before the lists are read: got %v", err)
	}
}

func TestDownloadRemovesWhatADeadOneLeft(t *testing.T) {
	packageTools(t, "exit 100")
	cache := t.TempDir()
	if err := os.MkdirAll(filepath.Join(cache, "kernel", TempPrefix+"dead", "tree"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(t.Context(), Options{Root: t.TempDir(), Cache: cache}); err == nil {
		t.Error("a download that fails passes")
	}
	if left, err := os.ReadDir(filepath.Join(cache, "kernel")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestByVersion(t *testing.T) {
	want := []string{"5.15.0-91-generic", "6.1.0-9-amd64", "6.1.0-10-amd64", "6.1.0-10-cloud-amd64", "6.12.0-1-amd64", "6.12.10-1-amd64"}
	got := slices.Sorted(slices.Values(want))
	slices.SortFunc(got, byVersion)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if byVersion("6.01", "6.1") != 0 || byVersion("6.1", "6.1.2") >= 0 {
		t.Error("leading zeros, or a longer version, count wrongly")
	}
}
