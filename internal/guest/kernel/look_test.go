package kernel

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/iotax/iotax/internal/errkind"
)

func TestLookDownloadsNothing(t *testing.T) {
	t.Setenv("PATH", "") // no apt-get
	cache := t.TempDir()
	o := Options{Root: t.TempDir(), Cache: cache, Log: func(line string) { t.Error(line) }}
	if _, _, err := Look(t.Context(), o); errkind.CodeOf(err) != errkind.Usage {
		t.Errorf("without a kernel and without apt-get: %v", err)
	}
	tree := filepath.Join(cache, "kernel", "linux-image-6.1.0-1-amd64")
	if err := os.MkdirAll(filepath.Join(tree, "lib", "modules", "6.1.0-1-amd64", "kernel"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tree, "vmlinuz"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	k, packages, err := Look(t.Context(), o)
	if err != nil || len(packages) > 0 || k.Source != "cache" || k.Release != "6.1.0-1-amd64" {
		t.Errorf("%+v, %v, %v; want the kernel of the cache", k, packages, err)
	}
	o.Image = filepath.Join(cache, "none")
	if _, _, err := Look(t.Context(), o); errkind.CodeOf(err) != errkind.Usage {
		t.Errorf("a given kernel that is not there: %v", err)
	}
}
