package provision

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Allocated gives an error unless every byte of the extents of a file has a written place on the disk: no hole, no
// extent that was reserved and never written. It asks FIEMAP; where the file system has none, SEEK_HOLE and the count
// of blocks must do, which cannot tell a reserved block from a written one.
func Allocated(path string, extents []Extent) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, e := range extents {
		err := byFiemap(f, e)
		if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOTTY) {
			err = byHoles(f, e)
		}
		if err != nil {
			return fmt.Errorf("%s is not filled: %w", path, err)
		}
	}
	return nil
}

// From linux/fiemap.h and linux/fs.h.
const (
	fsIocFiemap   = 0xc020660b
	fiemapSync    = 0x1
	fiemapHeader  = 32
	fiemapEntry   = 56
	fiemapEntries = 256

	extentLast      = 0x1
	extentUnknown   = 0x2
	extentDelalloc  = 0x4
	extentUnwritten = 0x800
)

// mapped is one extent that the file system reports.
type mapped struct {
	at, length int64
	flags      uint32
}

func byFiemap(f *os.File, want Extent) error {
	at, end := want.At, want.At+want.Length
	for at < end {
		list, err := fiemap(f, at, end-at)
		if err != nil {
			return err
		}
		next, err := covered(list, at, end)
		if err != nil {
			return err
		}
		if next <= at { // a file system that answers with extents before the range
			return hole(at, end)
		}
		at = next
	}
	return nil
}

// covered follows extents from at and returns how far they reach without a gap: end, or as far as the list goes.
func covered(list []mapped, at, end int64) (int64, error) {
	last := false
	for _, m := range list {
		switch {
		case m.at+m.length <= at:
			continue
		case m.at > at:
			return at, hole(at, min(m.at, end))
		case m.flags&extentUnwritten != 0:
			return at, fmt.Errorf("bytes %d to %d are reserved and were never written", at, min(m.at+m.length, end))
		case m.flags&(extentUnknown|extentDelalloc) != 0:
			return at, fmt.Errorf("bytes %d to %d have no place on the disk yet", at, min(m.at+m.length, end))
		}
		at, last = m.at+m.length, m.flags&extentLast != 0
		if at >= end {
			return end, nil
		}
	}
	if len(list) < fiemapEntries || last {
		return at, hole(at, end)
	}
	return at, nil
}

func hole(from, to int64) error { return fmt.Errorf("bytes %d to %d are a hole", from, to) }

// fiemap asks for the first extents of a range.
func fiemap(f *os.File, at, length int64) ([]mapped, error) {
	request := make([]byte, fiemapHeader+fiemapEntries*fiemapEntry)
	order := binary.NativeEndian
	order.PutUint64(request[0:], uint64(at))
	order.PutUint64(request[8:], uint64(length))
	order.PutUint32(request[16:], fiemapSync)
	order.PutUint32(request[24:], fiemapEntries)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), fsIocFiemap, uintptr(unsafe.Pointer(&request[0])))
	if errno != 0 {
		return nil, os.NewSyscallError("FIEMAP", errno)
	}
	list := make([]mapped, min(order.Uint32(request[20:]), fiemapEntries))
	for i := range list {
		e := request[fiemapHeader+i*fiemapEntry:]
		list[i] = mapped{int64(order.Uint64(e)), int64(order.Uint64(e[16:])), order.Uint32(e[40:])}
	}
	return list, nil
}

func byHoles(f *os.File, want Extent) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	end := want.At + want.Length
	if info.Size() < end {
		return hole(info.Size(), end)
	}
	first, err := unix.Seek(int(f.Fd()), want.At, unix.SEEK_HOLE)
	if err != nil {
		return fmt.Errorf("SEEK_HOLE: %w", err)
	}
	if first < end {
		return hole(first, end)
	}
	if onZFS(f) {
		return nil // it reserves no blocks, and counts those that are left after compression
	}
	taken, err := Taken(f.Name())
	if err == nil && taken < want.Length {
		err = fmt.Errorf("%d bytes take only %d on the disk", want.Length, taken)
	}
	return err
}

func onZFS(f *os.File) bool {
	const magic = 0x2fc12fc1 // ZFS_SUPER_MAGIC
	var st unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &st) == nil && st.Type == magic
}

// Taken is how many bytes of its file system a file takes.
func Taken(path string) (int64, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return 0, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return st.Blocks * 512, nil // 512 whatever the file system's block is (stat(2))
}

const samples = 64 // blocks that are looked at

// NotZero reads blocks spread over the extents, and gives an error when one holds only zeros. It tells a range of
// zeros that takes its place on the disk, and a device that was trimmed, from data.
func NotZero(path string, extents []Extent) error {
	return sample(path, extents, func(at int64, block []byte) error {
		if zero(block) {
			return fmt.Errorf("%s is not filled: bytes from %d are zero", path, at)
		}
		return nil
	})
}

// sample shows blocks spread over the extents of a file or device to look, until that gives an error.
func sample(path string, extents []Extent, look func(at int64, block []byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var total int64
	for _, e := range extents {
		total += e.Length
	}
	step := max(total/samples/Align, 1) * Align
	block := make([]byte, Align)
	var passed int64 // bytes of the extents before this one
	for _, e := range extents {
		for at := (passed+step-1)/step*step - passed; at < e.Length; at += step {
			part := block[:min(e.Length-at, Align)]
			if _, err := io.ReadFull(io.NewSectionReader(f, e.At+at, int64(len(part))), part); err != nil {
				return fmt.Errorf("%s: read at %d: %w", path, e.At+at, err)
			}
			if err := look(e.At+at, part); err != nil {
				return err
			}
		}
		passed += e.Length
	}
	return nil
}

func zero(block []byte) bool {
	for _, b := range block {
		if b != 0 {
			return false
		}
	}
	return true
}
