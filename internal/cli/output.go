package cli

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/iotax/iotax/internal/errkind"
)

// file makes the path of an output absolute; "-" is standard output.
func (a *app) file(path string) string {
	if path == "-" {
		return path
	}
	return a.Abs(path)
}

// output gives write a buffered place to write to: standard output for "-", else the file at path. A file is
// there whole or not at all; what was there before stays until then.
func (a *app) output(path string, write func(io.Writer) error) error {
	if path == "-" {
		return buffered(a.Stdout, write)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return errkind.Userf("cannot write %s: %v", path, errors.Unwrap(err))
	}
	if err != nil {
		return err
	}
	err = errors.Join(buffered(f, write), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func buffered(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 64<<10)
	return errors.Join(write(b), b.Flush())
}
