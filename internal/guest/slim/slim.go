// Package slim makes a copy of fio that loads in a fraction of the time, for the guest: a
// distribution's fio is linked to the libraries of every engine it knows (RBD, Gluster, RDMA and
// with them some sixty more, 70 MB), and a guest under emulation spends half a second a start on
// resolving them. The copy forgets the libraries of engines that are never used here; their symbols become
// weak and stay unresolved. The code is untouched, and the same copy runs on the host, so that
// both sides of a comparison are one program.
package slim

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"regexp"
)

// kept are the libraries that the engines used here need: libc and its parts, libaio, io_uring, and what fio's core calls.
var kept = regexp.MustCompile(`^(ld-linux|libc\.|libm\.|libpthread\.|libdl\.|librt\.|libaio\.|liburing\.|libz\.|libnuma\.|libatomic\.|libgcc_s\.)`)

// Elf returns a copy of an ELF executable (64-bit, little-endian) without the needless libraries.
// dropped is empty, and the copy identical, when there is nothing to leave out.
func Elf(image []byte) (out []byte, dropped []string, err error) {
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return nil, nil, err
	}
	if f.Class != elf.ELFCLASS64 || f.ByteOrder != binary.LittleEndian {
		return nil, nil, fmt.Errorf("only 64-bit little-endian executables can be slimmed, this is %v %v", f.Class, f.ByteOrder)
	}
	e := &editor{f: f, out: bytes.Clone(image), drop: map[string]bool{}}
	libs, err := f.ImportedLibraries()
	if err != nil {
		return nil, nil, err
	}
	for _, lib := range libs {
		if !kept.MatchString(filepath.Base(lib)) {
			e.drop[lib] = true
			dropped = append(dropped, lib)
		}
	}
	if len(dropped) == 0 {
		return e.out, nil, nil
	}
	for _, step := range []func() error{e.versions, e.symbols, e.dynamic} {
		if err := step(); err != nil {
			return nil, nil, err
		}
	}
	return e.out, dropped, nil
}

type editor struct {
	f       *elf.File
	out     []byte
	drop    map[string]bool // by soname
	orphans map[uint16]bool // version indices that belonged to dropped libraries
	first   int             // offset of the first version need left
	records int             // version needs left
}

func (e *editor) section(t elf.SectionType) (*elf.Section, []byte, error) {
	for _, s := range e.f.Sections {
		if s.Type == t {
			if s.Offset+s.FileSize > uint64(len(e.out)) {
				return nil, nil, fmt.Errorf("section %s lies outside the file", s.Name)
			}
			return s, e.out[s.Offset : s.Offset+s.FileSize], nil
		}
	}
	return nil, nil, fmt.Errorf("no section of type %v", t)
}

func (e *editor) text(strings *elf.Section, offset uint32) string {
	data := e.out[strings.Offset : strings.Offset+strings.FileSize]
	if uint64(offset) >= uint64(len(data)) {
		return ""
	}
	s, _, _ := bytes.Cut(data[offset:], []byte{0})
	return string(s)
}

// versions unlinks the version needs (Verneed records) of dropped libraries: the loader insists on
// finding every library that a record names. Each record is {version, count u16; file, aux, next u32},
// its entries {hash u32; flags, other u16; name, next u32}.
func (e *editor) versions() error {
	e.orphans = map[uint16]bool{}
	s, data, err := e.section(elf.SHT_GNU_VERNEED)
	if err != nil {
		return nil //nolint:nilerr // an executable without versions is fine
	}
	order := binary.LittleEndian
	names := e.f.Sections[s.Link]
	last := -1 // the kept record whose "next" must skip the dropped ones
	for at := 0; ; {
		if at+16 > len(data) {
			return fmt.Errorf("version needs run past their section")
		}
		next := int(order.Uint32(data[at+12:]))
		if e.drop[e.text(names, order.Uint32(data[at+4:]))] {
			e.orphan(data, at)
		} else {
			if last >= 0 {
				order.PutUint32(data[last+12:], uint32(at-last))
			} else {
				e.first = at
			}
			last = at
			e.records++
		}
		if next == 0 {
			break
		}
		at += next
	}
	if last < 0 {
		return fmt.Errorf("no version need would be left, not even libc's")
	}
	order.PutUint32(data[last+12:], 0)
	return nil
}

// orphan notes the version indices of the entries of the record at.
func (e *editor) orphan(data []byte, at int) {
	order := binary.LittleEndian
	entry := at + int(order.Uint32(data[at+8:]))
	for n := order.Uint16(data[at+2:]); n > 0 && entry+16 <= len(data); n-- {
		e.orphans[order.Uint16(data[entry+6:])] = true
		entry += int(order.Uint32(data[entry+12:]))
	}
}

// symbols makes every undefined symbol of a dropped library weak and versionless. Symbols of libraries
// without versions cannot be told apart by their version: all versionless ones become weak, which
// changes nothing for those that are found.
func (e *editor) symbols() error {
	_, symbols, err := e.section(elf.SHT_DYNSYM)
	if err != nil {
		return err
	}
	var versions []byte
	if _, v, err := e.section(elf.SHT_GNU_VERSYM); err == nil {
		versions = v
	}
	const size, bindShift, global = 24, 4, 1
	for i := 1; (i+1)*size <= len(symbols); i++ {
		symbol := symbols[i*size:]
		undefined := binary.LittleEndian.Uint16(symbol[6:]) == uint16(elf.SHN_UNDEF)
		version := uint16(global)
		if (i+1)*2 <= len(versions) {
			version = binary.LittleEndian.Uint16(versions[i*2:])
		}
		if !undefined || (version > global && !e.orphans[version]) {
			continue
		}
		symbol[4] = byte(elf.STB_WEAK)<<bindShift | symbol[4]&0xf
		if e.orphans[version] {
			binary.LittleEndian.PutUint16(versions[i*2:], global)
		}
	}
	return nil
}

// dynamic takes the DT_NEEDED entries out and corrects the count of version needs.
func (e *editor) dynamic() error {
	s, data, err := e.section(elf.SHT_DYNAMIC)
	if err != nil {
		return err
	}
	names := e.f.Sections[s.Link]
	order := binary.LittleEndian
	const size = 16
	to := 0
	for from := 0; from+size <= len(data); from += size {
		tag := elf.DynTag(order.Uint64(data[from:]))
		value := order.Uint64(data[from+8:])
		if tag == elf.DT_NEEDED && e.drop[e.text(names, uint32(value))] {
			continue
		}
		switch tag {
		case elf.DT_VERNEED:
			value += uint64(e.first)
		case elf.DT_VERNEEDNUM:
			value = uint64(e.records)
		}
		order.PutUint64(data[to:], uint64(tag))
		order.PutUint64(data[to+8:], value)
		to += size
	}
	clear(data[to:]) // DT_NULL
	return nil
}
