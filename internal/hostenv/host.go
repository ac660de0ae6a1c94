// Package hostenv says what this host is and whether it is fit to measure: its processor, kernel and neighbours, the
// accelerator that really boots, and the storage under a path.
package hostenv

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// Host reads facts of a host below Root. The zero value is this host; tests give a folder with a small /proc and /sys.
type Host struct {
	Root string // "" = "/"

	stat     func(path string) (number, error)   // nil = the real one, and so below
	zvolName func(device string) (string, error) // the dataset of a zvol
	vdevs    func(pool string) ([]string, error) // paths of the files and devices of a ZFS pool
}

// number is a device number, and whether it is that of a block device itself or of the file system of a file.
type number struct {
	major, minor uint32
	block        bool
}

func (h Host) path(parts ...string) string {
	root := h.Root
	if root == "" {
		root = "/"
	}
	return filepath.Join(append([]string{root}, parts...)...)
}

// read returns the trimmed text of a file, "" when it cannot be read.
func (h Host) read(parts ...string) string {
	text, err := os.ReadFile(h.path(parts...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func (h Host) procfs() (procfs.FS, error) { return procfs.NewFS(h.path("proc")) }

func (h Host) number(path string) (number, error) {
	if h.stat != nil {
		return h.stat(path)
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return number{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT == unix.S_IFBLK {
		return number{unix.Major(st.Rdev), unix.Minor(st.Rdev), true}, nil
	}
	return number{unix.Major(st.Dev), unix.Minor(st.Dev), false}, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// names lists a folder, nothing where there is none.
func names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list, err
}
