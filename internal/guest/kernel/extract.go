// Package kernel finds a guest kernel with its modules (the host's own, or the distribution's package
// unpacked into the cache, never into /boot) and takes the ELF image out of a bzImage.
package kernel

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/therootcompany/xz"
	"github.com/ulikunitz/xz/lzma"
)

// The fields of the x86 boot protocol that lead to the compressed payload
// (Documentation/arch/x86/boot.rst of the kernel; payload fields since protocol 2.08).
const (
	offSetupSects    = 0x1f1
	offMagic         = 0x202 // "HdrS"
	offPayloadOffset = 0x248
	offPayloadLength = 0x24c
)

// ErrNotBzImage says that an image is no x86 bzImage, so there is nothing to extract.
var ErrNotBzImage = errors.New("not an x86 bzImage")

// Vmlinux returns the ELF kernel inside a bzImage. Booting it directly (PVH) spares the guest from
// unpacking itself, which costs 3 s under software emulation.
func Vmlinux(bzImage []byte) ([]byte, error) {
	if len(bzImage) < offPayloadLength+4 || string(bzImage[offMagic:offMagic+4]) != "HdrS" {
		return nil, ErrNotBzImage
	}
	setup := int(bzImage[offSetupSects])
	if setup == 0 {
		setup = 4 // the protocol's word for "unset"
	}
	start := (setup+1)*512 + int(binary.LittleEndian.Uint32(bzImage[offPayloadOffset:]))
	length := int(binary.LittleEndian.Uint32(bzImage[offPayloadLength:]))
	if start < 0 || length <= 0 || start+length > len(bzImage) {
		return nil, fmt.Errorf("bzImage: payload of %d bytes at %d lies outside the file of %d bytes", length, start, len(bzImage))
	}
	image, err := unpack(bzImage[start : start+length])
	if err != nil {
		return nil, fmt.Errorf("bzImage payload: %w", err)
	}
	if !bytes.HasPrefix(image, []byte(elf.ELFMAG)) {
		return nil, errors.New("bzImage: the payload is not an ELF image")
	}
	return image, nil
}

func unpack(p []byte) ([]byte, error) {
	const limit = 512 << 20 // no kernel is larger; a bound against rubbish
	var r io.Reader
	var err error
	switch {
	case bytes.HasPrefix(p, []byte("\xfd7zXZ\x00")):
		r, err = xz.NewReader(bytes.NewReader(p), 0) // with the x86 filter, which most Go readers lack
	case bytes.HasPrefix(p, []byte{0x1f, 0x8b}):
		r, err = gzip.NewReader(bytes.NewReader(p))
	case bytes.HasPrefix(p, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		r, err = zstd.NewReader(bytes.NewReader(p))
	case bytes.HasPrefix(p, []byte{0x02, 0x21, 0x4c, 0x18}):
		r = lz4.NewReader(bytes.NewReader(p)) // the legacy frame
	case bytes.HasPrefix(p, []byte("BZh")):
		r = bzip2.NewReader(bytes.NewReader(p))
	case bytes.HasPrefix(p, []byte{0x5d, 0, 0}):
		r, err = lzma.NewReader(bytes.NewReader(p))
	case bytes.HasPrefix(p, []byte(elf.ELFMAG)):
		return p, nil
	default:
		return nil, fmt.Errorf("unknown compression, first bytes % x", p[:min(6, len(p))])
	}
	if err != nil {
		return nil, err
	}
	// The build appends the unpacked length (4 bytes) to the stream: a complaint about what follows
	// the end of the data, once an image is there, is about those.
	var out bytes.Buffer
	_, err = io.Copy(&out, io.LimitReader(r, limit))
	if err != nil && !tailOnly(p, out.Bytes()) {
		return nil, err
	}
	return out.Bytes(), nil
}

// tailOnly reports whether all that the appended length promises was unpacked.
func tailOnly(payload, image []byte) bool {
	return len(payload) >= 4 && int(binary.LittleEndian.Uint32(payload[len(payload)-4:])) == len(image)
}

// HasPVH reports whether an ELF kernel carries the note that lets QEMU boot it directly
// (XEN_ELFNOTE_PHYS32_ENTRY, set by CONFIG_PVH).
func HasPVH(image []byte) bool {
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return false
	}
	const phys32Entry = 18
	for _, prog := range f.Progs {
		if prog.Type != elf.PT_NOTE {
			continue
		}
		data, err := io.ReadAll(prog.Open())
		if err != nil {
			return false
		}
		for len(data) >= 12 {
			nameSize := int(f.ByteOrder.Uint32(data))
			descSize := int(f.ByteOrder.Uint32(data[4:]))
			kind := f.ByteOrder.Uint32(data[8:])
			end := 12 + (nameSize+3)&^3
			if nameSize < 0 || descSize < 0 || end < 12 || end > len(data) {
				break
			}
			if kind == phys32Entry && bytes.HasPrefix(data[12:], []byte("Xen\x00")) {
				return true
			}
			next := end + (descSize+3)&^3
			if next < end || next > len(data) {
				break
			}
			data = data[next:]
		}
	}
	return false
}
