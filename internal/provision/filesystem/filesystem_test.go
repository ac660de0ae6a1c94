package filesystem_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/provision/filesystem"
	"github.com/iotax/iotax/internal/provision/ground"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/sys"
)

func TestMake(t *testing.T) {
	if _, err := exec.LookPath("mkfs." + filesystem.Type); err != nil {
		t.Skip("mkfs." + filesystem.Type + " is not installed")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root mounts")
	}
	parent, journals := t.TempDir(), t.TempDir()
	j, err := revert.Open(journals, "r")
	if err != nil {
		t.Fatal(err)
	}
	scratch, err := j.Scratch(parent)
	if err != nil {
		t.Fatal(err)
	}
	const files = 64 << 20
	folder, err := filesystem.Make(t.Context(), sys.Exec{}, j, ground.Files{Dir: scratch}, scratch, files)
	if err != nil {
		t.Fatal(errors.Join(err, j.Undo(t.Context())))
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(folder, &fs); err != nil || fs.Type != unix.EXT4_SUPER_MAGIC {
		t.Errorf("%s is no ext4: %v", folder, err)
	}
	if free := int64(fs.Bavail) * fs.Bsize; free < files {
		t.Errorf("%d bytes are free, want %d", free, files)
	}
	if err := os.WriteFile(filepath.Join(folder, "volume"), make([]byte, 1<<20), 0o600); err != nil {
		t.Error(err)
	}
	if err := errors.Join(j.Undo(t.Context()), j.Close()); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{parent, journals} {
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left in %s: %v", dir, left)
		}
	}
}
