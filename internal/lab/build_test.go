package lab

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/sys"
)

// fake is a builder whose recipe notes each build in the file built, takes its versions from the file versions, and
// then does what the test says.
func fake(t *testing.T, then string) (b builder, dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "versions"), []byte("one 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	text := `case $1 in
versions) cat "` + dir + `/versions" ;;
qemu) echo built >>"` + dir + `/built"; echo half >"$2/half"; ` + then + ` ;;
esac
`
	return builder{filepath.Join(dir, "cache"), []byte(text)}, dir
}

func builds(t *testing.T, dir string) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "built"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Count(string(data), "\n")
}

func TestBuildsOncePerVersion(t *testing.T) {
	b, dir := fake(t, `echo whole >"$2/whole"`)
	var before string
	for i, step := range []struct {
		versions string
		builds   int
	}{{"one 1\n", 1}, {"one 1\n", 1}, {"one 2\n", 2}, {"one 1\n", 2}} {
		if err := os.WriteFile(filepath.Join(dir, "versions"), []byte(step.versions), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := b.build(t.Context(), QEMU, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := builds(t, dir); n != step.builds {
			t.Errorf("step %d: %d builds, want %d", i, n, step.builds)
		}
		if _, err := os.Stat(filepath.Join(got, "whole")); err != nil {
			t.Error(err)
		}
		before = got
	}
	b.recipe = append(b.recipe, "# another recipe\n"...)
	if got, err := b.build(t.Context(), QEMU, nil); err != nil || got == before {
		t.Errorf("another recipe gave %s, %v", got, err)
	}
}

func TestTwoBuildersBuildOnce(t *testing.T) {
	b, dir := fake(t, `sleep 0.2`)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if _, err := b.build(t.Context(), QEMU, nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := builds(t, dir); n != 1 {
		t.Errorf("%d builds", n)
	}
}

// What ends early is no part, and leaves nothing that could be taken for one.
func TestHalfABuildIsNone(t *testing.T) {
	for name, then := range map[string]string{
		"fails":  `echo no such package >&2; exit 1`,
		"killed": `sleep 60 & wait`,
	} {
		t.Run(name, func(t *testing.T) {
			b, dir := fake(t, then)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				for name == "killed" && builds(t, dir) == 0 && ctx.Err() == nil {
					time.Sleep(5 * time.Millisecond)
				}
				if name == "killed" {
					cancel()
				}
			}()
			_, err := b.build(ctx, QEMU, nil)
			var failed *sys.CommandError
			if !errors.As(err, &failed) {
				t.Fatalf("got %v, want a *sys.CommandError", err)
			}
			if name == "fails" && !strings.Contains(err.Error(), "no such package") {
				t.Errorf("the recipe's own words are lost: %v", err)
			}
			if _, ok, err := b.find(t.Context(), QEMU); ok || err != nil {
				t.Errorf("found %v, %v", ok, err)
			}
			left, err := filepath.Glob(filepath.Join(b.cache, "*", "*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

func TestWhatIsNoKernelIsRefused(t *testing.T) {
	boot := t.TempDir()
	if err := os.WriteFile(filepath.Join(boot, "vmlinuz"), make([]byte, 4096), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := unpackKernel(boot); err == nil {
		t.Error("zeros were taken for a kernel")
	}
}
