package kernel

import (
	"bytes"
	"compress/gzip"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/iotax/iotax/internal/errkind"
)

// tinyElf builds a 64-bit ELF object with one section and one note segment, enough for the readers here.
func tinyElf(sectionName string, section, note []byte) []byte {
	names := "\x00" + sectionName + "\x00.shstrtab\x00"
	const header, segment = 64, 56
	at := uint64(header + segment)
	var b bytes.Buffer
	le := func(v any) { binary.Write(&b, binary.LittleEndian, v) }
	noteAt, sectionAt := at, at+uint64(len(note))
	namesAt := sectionAt + uint64(len(section))
	tableAt := namesAt + uint64(len(names))
	h := elf.Header64{
		Type: 2, Machine: uint16(elf.EM_X86_64), Version: 1, Phoff: header, Shoff: tableAt,
		Ehsize: header, Phentsize: segment, Phnum: 1, Shentsize: 64, Shnum: 3, Shstrndx: 2,
	}
	copy(h.Ident[:], "\x7fELF\x02\x01\x01")
	le(h)
	le(elf.Prog64{Type: uint32(elf.PT_NOTE), Off: noteAt, Filesz: uint64(len(note))})
	b.Write(note)
	b.Write(section)
	b.WriteString(names)
	le(elf.Section64{})
	le(elf.Section64{Name: 1, Type: uint32(elf.SHT_PROGBITS), Off: sectionAt, Size: uint64(len(section))})
	le(elf.Section64{Name: uint32(len(sectionName) + 2), Type: uint32(elf.SHT_STRTAB), Off: namesAt, Size: uint64(len(names))})
	return b.Bytes()
}

func module(info string) []byte { return tinyElf(".modinfo", []byte(info), nil) }

// bzImage wraps a payload the way the kernel's build does: boot header, payload, unpacked length.
func bzImage(payload []byte, unpacked int) []byte {
	image := make([]byte, 5*512)
	image[offSetupSects] = 4
	copy(image[offMagic:], "HdrS")
	payload = binary.LittleEndian.AppendUint32(bytes.Clone(payload), uint32(unpacked))
	binary.LittleEndian.PutUint32(image[offPayloadOffset:], 0)
	binary.LittleEndian.PutUint32(image[offPayloadLength:], uint32(len(payload)))
	return append(image, payload...)
}

func pvhNote(name string, kind uint32) []byte {
	var b bytes.Buffer
	for _, v := range []uint32{4, 4, kind} {
		binary.Write(&b, binary.LittleEndian, v)
	}
	b.WriteString(name)
	b.Write([]byte{0, 0, 0, 1})
	return b.Bytes()
}

func TestVmlinux(t *testing.T) {
	want := tinyElf(".x", nil, append(pvhNote("GNU\x00", 3), pvhNote("Xen\x00", 18)...))
	if !HasPVH(want) {
		t.Error("the note for direct boot was not seen")
	}
	if HasPVH(tinyElf(".x", nil, pvhNote("Xen\x00", 17))) || HasPVH([]byte("rubbish")) {
		t.Error("a note for direct boot was seen where there is none")
	}
	var gz, zst bytes.Buffer
	w := gzip.NewWriter(&gz)
	w.Write(want)
	w.Close()
	z, _ := zstd.NewWriter(&zst)
	z.Write(want)
	z.Close()
	for name, payload := range map[string][]byte{"gzip": gz.Bytes(), "zstd": zst.Bytes(), "none": want} {
		got, err := Vmlinux(bzImage(payload, len(want)))
		if err != nil || !bytes.HasPrefix(got, want) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	if _, err := Vmlinux([]byte("MZ no kernel")); !errors.Is(err, ErrNotBzImage) {
		t.Errorf("got %v, want ErrNotBzImage", err)
	}
	cut := bzImage(gz.Bytes(), len(want))
	if _, err := Vmlinux(cut[:len(cut)-20]); err == nil {
		t.Error("a cut image was unpacked")
	}
	if _, err := Vmlinux(bzImage([]byte("????????"), 1)); err == nil {
		t.Error("an unknown compression was unpacked")
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestClosure(t *testing.T) {
	dir := t.TempDir()
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	w.Write(module("license=GPL\x00depends=virtio,virtio-ring\x00name=virtio_blk"))
	w.Close()
	write(t, filepath.Join(dir, "kernel/drivers/block/virtio_blk.ko.gz"), gz.Bytes())
	write(t, filepath.Join(dir, "kernel/drivers/virtio/virtio.ko"), module("depends=virtio_ring"))
	write(t, filepath.Join(dir, "kernel/drivers/virtio/virtio_ring.ko"), module("depends=\x00"))
	write(t, filepath.Join(dir, "kernel/drivers/block/loop.ko"), module("depends=nowhere,ext4"))
	write(t, filepath.Join(dir, "modules.builtin"), []byte("kernel/fs/ext4/ext4.ko\n"))
	x, err := ReadIndex(dir)
	if err != nil {
		t.Fatal(err)
	}
	modules, missing, err := x.Closure("virtio-blk", "loop", "virtio")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range modules {
		names = append(names, m.Name)
	}
	if d := cmp.Diff([]string{"virtio_ring", "virtio", "virtio_blk", "loop"}, names); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"nowhere"}, missing); d != "" {
		t.Error(d)
	}
}

func TestFind(t *testing.T) {
	ctx := context.Background()
	root, cache := t.TempDir(), t.TempDir()
	write(t, filepath.Join(root, "boot/vmlinuz-6.1.0-9-test"), []byte("x"))
	write(t, filepath.Join(root, "lib/modules/6.1.0-9-test/kernel/a.ko"), nil)
	write(t, filepath.Join(root, "boot/vmlinuz-9.9-without-modules"), []byte("x"))
	k, err := Find(ctx, Options{Root: root, Cache: cache})
	if err != nil || k.Release != "6.1.0-9-test" || k.Source != "host" {
		t.Errorf("host: %+v, %v", k, err)
	}
	write(t, filepath.Join(cache, "kernel/linux-image-5/vmlinuz"), []byte("x"))
	write(t, filepath.Join(cache, "kernel/linux-image-5/lib/modules/5.10/kernel/a.ko"), nil)
	k, err = Find(ctx, Options{Root: t.TempDir(), Cache: cache})
	if err != nil || k.Release != "5.10" || k.Source != "cache" {
		t.Errorf("cache: %+v, %v", k, err)
	}
	k, err = Find(ctx, Options{Image: k.Image, Modules: k.Modules})
	if err != nil || k.Source != "given" {
		t.Errorf("given: %+v, %v", k, err)
	}
	_, err = Find(ctx, Options{Image: "/nowhere/vmlinuz"})
	var faults errkind.List
	if !errors.As(err, &faults) || len(faults) != 2 || errkind.CodeOf(err) != errkind.Usage {
		t.Errorf("two faults of the user expected, got %v", err)
	}
}

func FuzzVmlinux(f *testing.F) {
	f.Add(bzImage(tinyElf(".x", nil, nil), 10))
	f.Fuzz(func(t *testing.T, data []byte) {
		image, err := Vmlinux(data)
		if err == nil {
			HasPVH(image)
		}
	})
}
