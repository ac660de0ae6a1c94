package revert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/errkind"
)

// Marker is the file that marks a scratch folder as made by iotax. It holds the name of the run.
const Marker = ".iotax-scratch"

// ScratchName is the name of a run's scratch folder.
func ScratchName(run string) string { return "iotax-" + run }

// Scratch makes the run's own folder <parent>/iotax-<run>, marked, journalled to be removed with all it holds. Only
// what lies in such a folder can be journalled by Remove. parent must exist.
func (j *Journal) Scratch(parent string) (string, error) {
	parent, err := filepath.Abs(parent)
	if err != nil {
		return "", err
	}
	// The journal names the real place, so that a link that is turned elsewhere later leads nowhere.
	if parent, err = filepath.EvalSymlinks(parent); err != nil {
		return "", errkind.Userf("scratch folder: %w", err)
	}
	dir := filepath.Join(parent, ScratchName(j.Run()))
	if _, err := os.Lstat(dir); err == nil {
		return "", errkind.WithHint(errkind.Userf("%s exists already", dir), "remove it with: iotax clean")
	}
	if _, err := j.Add(Remove(dir)); err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", errkind.Userf("scratch folder: %w", err)
	}
	if err := writeMarker(filepath.Join(dir, Marker), j.Run()); err != nil {
		return "", err
	}
	return dir, syncDir(dir)
}

// MkdirAll makes a folder and those above it that are missing. Each that it makes is journalled to be removed, unless
// something else lies in it by then.
func (j *Journal) MkdirAll(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	var missing []string
	for dir := path; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append(missing, dir)
	}
	for _, dir := range slices.Backward(missing) {
		if _, err := j.Add(Act{"rmdir", map[string]string{"path": dir}}); err != nil {
			return err
		}
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return errkind.Userf("scratch folder: %w", err)
		}
	}
	return nil
}

func validRmdir(_ string, args map[string]string) error {
	if path := args["path"]; !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return fmt.Errorf("revert: refused to remove %q: not a plain absolute path", path)
	}
	return nil
}

// undoRmdir removes a folder that is empty: one in which something lies has become somebody's.
func undoRmdir(_ context.Context, _ string, args map[string]string) error {
	err := unix.Rmdir(args["path"])
	for _, fine := range []error{unix.ENOENT, unix.ENOTEMPTY, unix.EEXIST, unix.ENOTDIR, unix.EBUSY} {
		if errors.Is(err, fine) {
			return nil
		}
	}
	return err
}

func writeMarker(path, run string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(run + "\n")
	return errors.Join(err, f.Sync(), f.Close())
}

// Remove undoes the making of a file or folder: it is removed with all that is in it. path must be absolute and lie
// in, or be, the scratch folder of the same run.
func Remove(path string) Act { return Act{"remove", map[string]string{"path": path}} }

func validRemove(run string, args map[string]string) error {
	_, _, err := inScratch(run, args["path"])
	return err
}

// inScratch splits path at the scratch folder of the run.
func inScratch(run, path string) (dir, rel string, err error) {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return "", "", fmt.Errorf("revert: refused to remove %q: not a plain absolute path", path)
	}
	name := ScratchName(run)
	before, after, found := strings.Cut(path+"/", "/"+name+"/")
	if !found || run == "" {
		return "", "", fmt.Errorf("revert: refused to remove %q: not in a folder %s", path, name)
	}
	return before + "/" + name, filepath.Clean(after), nil
}

func undoRemove(_ context.Context, run string, args map[string]string) error {
	dir, rel, err := inScratch(run, args["path"])
	if err != nil {
		return err
	}
	if info, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("refused: %s is not a folder", dir)
	}
	if err := checkMounts(args["path"]); err != nil {
		return err
	}
	// Nothing below root can lead out of it, whatever links there are.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	text, err := root.ReadFile(Marker)
	marked := err == nil && strings.TrimSpace(string(text)) == run
	switch {
	case !marked:
		// Killed between making the folder and marking it, at either end: it is empty, or it is not ours.
		return removeUnmarked(root, dir)
	case rel != ".":
		return root.RemoveAll(rel)
	}
	return removeScratch(root, dir)
}

// removeScratch removes what is in the folder, then the marker, then the folder: cut short at any point, it can be
// called again.
func removeScratch(root *os.Root, dir string) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == Marker {
			continue
		}
		if err := root.RemoveAll(e.Name()); err != nil {
			return err
		}
	}
	if err := root.Remove(Marker); err != nil {
		return err
	}
	return os.Remove(dir)
}

func removeUnmarked(root *os.Root, dir string) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := root.Lstat(e.Name())
		if err != nil || e.Name() != Marker || info.Size() > 0 {
			return fmt.Errorf("refused: %s does not carry the mark of this run, %s", dir, Marker)
		}
		if err := root.Remove(Marker); err != nil { // made and not yet written
			return err
		}
	}
	return os.Remove(dir)
}

// checkMounts refuses a tree in which something is still mounted: removing it would empty that file system.
func checkMounts(path string) error {
	mounts, err := mountinfo.GetMounts(mountinfo.PrefixFilter(path))
	if err != nil {
		return err
	}
	for _, m := range mounts {
		return fmt.Errorf("refused: %s is mounted in it", m.Mountpoint)
	}
	return nil
}
