package pve

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/vmconf"
)

// Storage is what storage.cfg says of a node's storages. The zero Storage knows none.
type Storage struct {
	Pools   map[string]Pool
	Unknown []vmconf.Unknown
}

// Pool is one storage.
type Pool struct {
	Name    string
	Type    string            // "dir", "lvmthin", "rbd"
	Options map[string]string // as they are written: "path", "krbd", "content"
	At      vmconf.Place
}

// On reports whether an option that is a boolean is set.
func (p Pool) On(option string) bool {
	value, ok := p.Options[option]
	on, _ := parseBool(value)
	return ok && (on || value == "")
}

// backend is how QEMU reaches the volumes of a pool, in the words of vmconf.Disk.Backend.
func (p Pool) backend() string {
	switch p.Type {
	case "dir", "nfs", "cifs", "cephfs", "btrfs":
		return "file"
	case "lvm", "lvmthin", "zfspool", "iscsi", "drbd":
		return "block"
	case "rbd":
		if p.On("krbd") {
			return "block"
		}
		return "network"
	case "zfs", "iscsidirect", "glusterfs", "sheepdog":
		return "network"
	}
	return "pool"
}

// installed are the storages that the installer of Proxmox VE makes.
var installed = map[string]string{"local": "dir", "local-lvm": "lvmthin", "local-zfs": "zfspool", "local-btrfs": "btrfs"}

// pool looks a storage up. known is false where only its name tells its type, or nothing does.
func (s Storage) pool(name string) (pool Pool, known bool) {
	if p, ok := s.Pools[name]; ok {
		return p, true
	}
	return Pool{Name: name, Type: installed[name]}, false
}

var (
	poolHeader = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*):\s*(\S+)$`)
	poolOption = regexp.MustCompile(`^\s+(\S+)(?:\s+(.*))?$`)
)

// ParseStorage reads a storage.cfg. A line that cannot be read is among Unknown; what has no storage at all is a user's fault.
func ParseStorage(name string, data []byte) (Storage, error) {
	if err := plausible(name, data); err != nil {
		return Storage{}, err
	}
	s := Storage{Pools: map[string]Pool{}}
	var pool *Pool
	keep := func() {
		if pool != nil {
			s.Pools[pool.Name] = *pool
		}
	}
	unknown := func(line int, text, why string) {
		at := vmconf.Place{File: name, Line: line}
		s.Unknown = append(s.Unknown, vmconf.Unknown{Text: oneLine(text + why), At: at})
	}
	scanner := bufio.NewScanner(bytes.NewReader(data))
	scanner.Buffer(nil, maxBytes+1)
	for line := 1; scanner.Scan(); line++ {
		if line > maxLines {
			return Storage{}, errkind.Userf("%s: more than %d lines: it is not a storage.cfg", name, maxLines)
		}
		text := strings.TrimRight(strings.TrimPrefix(scanner.Text(), "\ufeff"), " \t\r")
		if trimmed := strings.TrimSpace(text); trimmed == "" || trimmed[0] == '#' {
			continue
		}
		if m := poolHeader.FindStringSubmatch(text); m != nil {
			keep()
			pool = &Pool{
				Name: m[2], Type: strings.ToLower(m[1]), Options: map[string]string{}, At: vmconf.Place{File: name, Line: line},
			}
			if before, ok := s.Pools[pool.Name]; ok {
				unknown(before.At.Line, before.Name, fmt.Sprintf(": replaced by the storage of the same name in line %d", line))
			}
		} else if m := poolOption.FindStringSubmatch(text); m != nil && pool != nil {
			pool.Options[m[1]] = m[2]
		} else {
			unknown(line, text, "")
		}
	}
	if keep(); len(s.Pools) == 0 {
		return Storage{}, errkind.Userf("%s: it names no storage: it is not a storage.cfg of Proxmox VE", name)
	}
	s.Unknown = shortened(s.Unknown)
	return s, nil
}
