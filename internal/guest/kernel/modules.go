package kernel

import (
	"bytes"
	"compress/gzip"
	"debug/elf"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"
)

// Module is one loadable module, unpacked.
type Module struct {
	Name string // with underscores, as the kernel says it
	Data []byte // the ELF object
}

// Index knows which modules a kernel has, by name.
type Index struct {
	paths   map[string]string
	builtin map[string]bool
}

// ReadIndex walks a modules folder. It needs no modules.dep: an unpacked package has none
// (depmod runs when a package is installed), and every module names what it needs.
func ReadIndex(dir string) (*Index, error) {
	x := &Index{paths: map[string]string{}, builtin: map[string]bool{}}
	err := filepath.WalkDir(filepath.Join(dir, "kernel"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name, ok := moduleName(path); ok && !d.IsDir() {
			x.paths[name] = path
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	builtin, err := os.ReadFile(filepath.Join(dir, "modules.builtin"))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	for line := range strings.Lines(string(builtin)) {
		if name, ok := moduleName(strings.TrimSpace(line)); ok {
			x.builtin[name] = true
		}
	}
	return x, nil
}

func moduleName(path string) (string, bool) {
	name, ext, ok := strings.Cut(filepath.Base(path), ".ko")
	switch ext {
	case "", ".xz", ".zst", ".gz":
		return strings.ReplaceAll(name, "-", "_"), ok
	}
	return "", false
}

// Closure returns the named modules with everything they need, each after what it needs. Names that are
// built into the kernel, or that this kernel does not have, are left out; the latter are returned as missing.
func (x *Index) Closure(names ...string) (modules []Module, missing []string, err error) {
	seen := map[string]bool{}
	var visit func(name string) error
	visit = func(name string) error {
		name = strings.ReplaceAll(name, "-", "_")
		if seen[name] || x.builtin[name] {
			return nil
		}
		seen[name] = true
		path, ok := x.paths[name]
		if !ok {
			missing = append(missing, name)
			return nil
		}
		data, err := readModule(path)
		if err != nil {
			return fmt.Errorf("module %s: %w", path, err)
		}
		needs, err := depends(data)
		if err != nil {
			return fmt.Errorf("module %s: %w", path, err)
		}
		for _, n := range needs {
			if err := visit(n); err != nil {
				return err
			}
		}
		modules = append(modules, Module{name, data})
		return nil
	}
	for _, name := range names {
		if err := visit(name); err != nil {
			return nil, nil, err
		}
	}
	return modules, missing, nil
}

func readModule(path string) ([]byte, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r io.Reader
	switch filepath.Ext(path) {
	case ".xz":
		r, err = xz.NewReader(bytes.NewReader(raw), 0)
	case ".zst":
		r, err = zstd.NewReader(bytes.NewReader(raw))
	case ".gz":
		r, err = gzip.NewReader(bytes.NewReader(raw))
	default:
		return raw, nil
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// depends reads what a module says of its needs in its .modinfo section.
func depends(module []byte) ([]string, error) {
	f, err := elf.NewFile(bytes.NewReader(module))
	if err != nil {
		return nil, err
	}
	section := f.Section(".modinfo")
	if section == nil {
		return nil, nil
	}
	info, err := section.Data()
	if err != nil {
		return nil, err
	}
	var needs []string
	for _, entry := range strings.Split(string(info), "\x00") {
		if list, ok := strings.CutPrefix(entry, "depends="); ok && list != "" {
			needs = append(needs, strings.Split(list, ",")...)
		}
	}
	return needs, nil
}
