package read

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/libvirt"
	"github.com/iotax/iotax/internal/vmconf/pve"
	"github.com/iotax/iotax/internal/vmconf/qemuargs"
	"github.com/iotax/iotax/internal/vmconf/xl"
)

// parse reads the files that were found.
func (r *reader) parse() {
	for _, f := range r.files {
		doc, err := r.document(f)
		if err != nil {
			var list errkind.List
			if !errors.As(err, &list) {
				list = errkind.List{err}
			}
			r.faults = append(r.faults, list...)
			continue
		}
		r.Found = append(r.Found, Found{Path: f.path, Kind: f.kind, Doc: doc})
	}
}

// document reads one file. An error has no document, also where a parser returns a nil one of its own type.
func (r *reader) document(f file) (doc vmconf.Document, err error) {
	switch f.kind {
	case vmconf.Libvirt:
		doc, err = libvirt.Parse(f.path, f.data)
	case vmconf.Proxmox:
		doc, err = pve.Parse(f.path, f.data, r.storageOf(f.path))
	case vmconf.XL:
		doc, err = xl.Parse(f.path, f.data)
	default:
		doc, err = qemuargs.Parse(f.path, f.data)
	}
	return doc, err
}

// store is one storage.cfg.
type store struct {
	path   string
	pve    pve.Storage
	given  bool // it is among the targets
	broken bool // it could not be read, and that is said
	used   bool
}

// storage keeps a storage.cfg for the configurations of VMs.
func (r *reader) storage(path string, data []byte, given bool) *store {
	s := &store{path: filepath.Clean(path), given: given}
	var err error
	if s.pve, err = pve.ParseStorage(path, data); err != nil {
		r.faults, s.broken = append(r.faults, err), true
	}
	r.storages = append(r.storages, s)
	return s
}

// storageOf finds the storages of the node that a VM's configuration is of: beside it, where Proxmox VE keeps them
// (/etc/pve/storage.cfg for /etc/pve/qemu-server/100.conf and /etc/pve/nodes/NODE/qemu-server/100.conf), or the only
// storage.cfg among the targets.
func (r *reader) storageOf(path string) pve.Storage {
	folder := filepath.Dir(path)
	beside := []string{folder}
	if filepath.Base(folder) == "qemu-server" {
		up := filepath.Dir(folder)
		beside = append(beside, up)
		if nodes := filepath.Dir(up); filepath.Base(nodes) == "nodes" {
			beside = append(beside, filepath.Dir(nodes))
		}
	}
	for _, dir := range beside {
		if s := r.open(filepath.Join(dir, "storage.cfg")); s != nil {
			return r.use(s)
		}
	}
	var given []*store
	for _, s := range r.storages {
		if s.given && !s.broken {
			given = append(given, s)
		}
	}
	if len(given) == 1 {
		return r.use(given[0])
	}
	return pve.Storage{}
}

// open returns the storage.cfg of this path, read now if it was not before; nil where there is none.
func (r *reader) open(path string) *store {
	for _, s := range r.storages {
		if s.path == filepath.Clean(path) {
			return s
		}
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (special(info.Mode()) != "" || info.Size() > vmconf.MaxBytes) {
		return nil
	}
	data, err := content(path)
	if err != nil {
		r.fault(path, err)
		s := &store{path: filepath.Clean(path), broken: true}
		r.storages = append(r.storages, s)
		return s
	}
	return r.storage(path, data, false)
}

func (r *reader) use(s *store) pve.Storage {
	if !s.used && !s.broken {
		s.used = true
		r.Storages = append(r.Storages, s.path)
		r.Unknown = append(r.Unknown, s.pve.Unknown...)
	}
	return s.pve
}
