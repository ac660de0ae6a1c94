package read

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/vmconf"
)

// Found is one configuration.
type Found struct {
	Path string
	Kind string // one of vmconf's
	Doc  vmconf.Document
}

// Skipped is a file of a folder that was not read.
type Skipped struct{ Path, Why string }

// Result is what was found at some targets.
type Result struct {
	Found    []Found          // in the order of the targets, each folder's in the order of their paths
	Skipped  []Skipped        // what in folders is no configuration
	Storages []string         // the storage.cfg that were used
	Unknown  []vmconf.Unknown // what was not understood in those
}

// Bounds on what is looked at in one folder, and on what is kept of all.
const (
	maxFiles = 100_000
	maxTotal = 512 << 20 // bytes
)

// Targets reads files, and folders with all that is below them. A target or file that cannot be read is one line of the
// error, an errkind.List; the result has all the others.
func Targets(paths []string) (Result, error) {
	r := reader{seen: map[string]bool{}}
	for _, path := range paths {
		before := len(r.files) + len(r.faults) + len(r.storages)
		info, err := os.Stat(path)
		switch {
		case err != nil:
			r.fault(path, err)
			continue
		case info.IsDir():
			r.walk(path)
			if len(r.files)+len(r.faults)+len(r.storages) == before && !r.known(path) {
				r.faults = append(r.faults, errkind.Userf("%s: no configuration of a virtual machine is in this folder", path))
			}
		default:
			r.file(path, info, true)
		}
	}
	r.parse()
	return r.Result, r.faults.Err()
}

// reader collects files before it reads them, since a storage.cfg among them counts for all.
type reader struct {
	Result
	files    []file
	storages []*store
	total    int64 // bytes in files
	seen     map[string]bool
	faults   errkind.List
}

// file is a configuration that is not read yet.
type file struct {
	path, kind string
	data       []byte
}

// known reports whether a configuration below a folder is there already, for another target.
func (r *reader) known(folder string) bool {
	below := filepath.Clean(folder) + string(filepath.Separator)
	return slices.ContainsFunc(r.files, func(f file) bool { return strings.HasPrefix(filepath.Clean(f.path), below) })
}

// walk looks at every file below a folder. Hidden folders are not entered, and links to folders not followed.
func (r *reader) walk(folder string) {
	count := 0
	root := strings.TrimSuffix(folder, "/") + "/" // enters a link that is a target itself
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			r.fault(path, err)
			if entry != nil && entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			if path != root && strings.HasPrefix(entry.Name(), ".") {
				r.skip(path, "a hidden folder")
				return fs.SkipDir
			}
			return nil
		}
		if count++; count > maxFiles {
			r.faults = append(r.faults, errkind.Userf("%s: more than %d files; name the folder of the configurations", folder, maxFiles))
			return fs.SkipAll
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
			r.fault(path, err)
		case info.IsDir():
			r.skip(path, "a link to a folder")
		default:
			r.file(path, info, false)
		}
		return nil
	})
	if err != nil {
		r.fault(folder, err)
	}
}

// file looks at one file. named is true where it is a target itself: then it must be a configuration.
func (r *reader) file(path string, info fs.FileInfo, named bool) {
	clean := filepath.Clean(path)
	if r.seen[clean] {
		return
	}
	r.seen[clean] = true
	refuse := func(why string) {
		if named {
			r.faults = append(r.faults, errkind.Userf("%s: %s", path, why))
		} else {
			r.skip(path, why)
		}
	}
	if what := special(info.Mode()); what != "" {
		refuse("it is " + what + "; expected a file or a folder")
		return
	}
	if info.Size() > vmconf.MaxBytes {
		refuse(tooLarge(info.Size()))
		return
	}
	data, err := content(path)
	kind, ok := "", false
	if err == nil {
		kind, ok = Kind(data)
	}
	switch {
	case err != nil:
		r.fault(path, err)
	case len(data) > vmconf.MaxBytes: // what /proc shows has no size before
		refuse(tooLarge(int64(len(data))))
	case ok && r.total+int64(len(data)) > maxTotal:
		r.faults = append(r.faults, errkind.Userf("%s: the configurations before it have %d MiB together; audit them in parts", path, r.total>>20))
	case ok:
		r.total += int64(len(data))
		r.files = append(r.files, file{path: path, kind: kind, data: data})
	case isStorage(data):
		r.storage(path, data, true)
	case named && (bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff"))):
		refuse("it is in UTF-16; expected UTF-8")
	case named:
		refuse("no configuration of libvirt, Proxmox VE, QEMU or Xen that could be recognised is in it")
	default:
		refuse("no configuration")
	}
}

func tooLarge(size int64) string {
	return fmt.Sprintf("%d bytes are too many; a configuration has at most %d MiB", size, vmconf.MaxBytes>>20)
}

// special says what a file is that must not be opened, "" of one that can be read.
func special(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeType != 0:
		return "no regular file"
	}
	return ""
}

// content reads a file, a byte more than the limit at most. It does not wait for a FIFO that took the file's place.
func content(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, vmconf.MaxBytes+1))
}

func (r *reader) skip(path, why string) { r.Skipped = append(r.Skipped, Skipped{path, why}) }

// fault adds an error of the system as one line that begins with the path.
func (r *reader) fault(path string, err error) {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	e := errkind.Userf("%s: %w", path, err)
	if errors.Is(err, fs.ErrPermission) {
		e = errkind.WithHint(e, "run iotax as a user who may read it")
	}
	r.faults = append(r.faults, e)
}
