package spec

import (
	"slices"

	"github.com/iotax/iotax/internal/unit"
)

// option is a key of a stack that only some kinds of storage have.
type option struct {
	key      string
	given    bool
	storages []string
}

// checkStorage refuses settings that the stack's storage does not have, and values that it does not take.
func checkStorage(f *faults, path string, s Stack) {
	if !choice(f, path+".storage", "storage", s.Storage, Storages) {
		return
	}
	if s.Ceiling() && s.Storage != "" {
		f.add(path+".storage", "a disk of no latency%s lies nowhere; expected none", ref(path+".format"))
		return
	}
	storage := s.Storage
	or(&storage, "file")
	lvm, zfs := []string{"lvm", "lvm-thin"}, []string{"zfs-file", "zvol"}
	for _, o := range []option{
		{"pool", s.Pool != "", append(lvm, zfs...)},
		{"extent_size", s.ExtentSize != 0, lvm},
		{"stripes", s.Stripes != 0, []string{"lvm"}},
		{"lv_read_ahead", s.LVReadAhead != "", lvm},
		{"chunk_size", s.ChunkSize != 0, []string{"lvm-thin"}},
		{"zeroing", s.Zeroing != "", []string{"lvm-thin"}},
		{"recordsize", s.RecordSize != 0, []string{"zfs-file"}},
		{"volblocksize", s.VolBlockSize != 0, []string{"zvol"}},
		{"compression", s.Compression != "", zfs},
		{"primarycache", s.PrimaryCache != "", zfs},
		{"sync", s.Sync != "", zfs},
	} {
		if o.given && !slices.Contains(o.storages, storage) {
			f.add(path+"."+o.key, "storage %q%s has none; expected storage %s", storage, ref(path+".storage"), either(o.storages))
		}
	}
	checkStorageValues(f, path, s)
	checkSnapshot(f, path, s, storage)
	checkEmpty(f, path, s, storage)
}

func checkStorageValues(f *faults, path string, s Stack) {
	choice(f, path+".zeroing", "zeroing", s.Zeroing, []string{"on", "off"})
	choice(f, path+".compression", "compression", s.Compression, []string{"off", "lz4", "zstd"})
	choice(f, path+".primarycache", "primarycache", s.PrimaryCache, []string{"all", "metadata", "none"})
	choice(f, path+".sync", "sync", s.Sync, []string{"standard", "always", "disabled"})
	for _, v := range []struct {
		key       string
		n         int64
		low, high int64
	}{
		{"extent_size", s.ExtentSize, 128 << 10, 16 << 30},
		{"recordsize", s.RecordSize, 512, 16 << 20},
		{"volblocksize", s.VolBlockSize, 512, 128 << 10},
	} {
		if v.n != 0 && !power(v.n, v.low, v.high) {
			f.add(path+"."+v.key, "%s is not allowed; expected a power of two from %s to %s", unit.ExactBytes(v.n), unit.ExactBytes(v.low), unit.ExactBytes(v.high))
		}
	}
	if c := s.ChunkSize; c != 0 && (c < 64<<10 || c > 1<<30 || c%(64<<10) != 0) { // lvmthin(7)
		f.add(path+".chunk_size", "%s is not allowed; expected a multiple of 64KiB, at most 1GiB", unit.ExactBytes(c))
	}
	if s.Stripes < 0 || s.Stripes > 128 {
		f.add(path+".stripes", "%d is out of range; expected 1 to 128", s.Stripes)
	}
	checkReadAhead(f, path+".lv_read_ahead", s.LVReadAhead, "auto")
	checkReadAhead(f, path+".read_ahead", s.ReadAhead, "")
}

// checkReadAhead takes a size, "none" and one word more.
func checkReadAhead(f *faults, path, value, more string) {
	if value == "" || value == "none" || value == more {
		return
	}
	n, err := unit.ParseBytes(value)
	if err != nil || n <= 0 || n%4096 != 0 || n > 1<<30 {
		f.add(path, "%q is not allowed; expected none or a multiple of 4KiB such as 128k", clip(value))
	}
}

func checkSnapshot(f *faults, path string, s Stack, storage string) {
	if !choice(f, path+".snapshot", "snapshot", s.Snapshot, Snapshots) || s.Snapshot == "" {
		return
	}
	if storage != "lvm" && storage != "lvm-thin" && s.Format != "qcow2" {
		f.add(path+".snapshot", "is for storage lvm, storage lvm-thin and format qcow2, and this is %q%s", storage, ref(path+".storage"))
	}
}

// checkEmpty refuses to begin with an empty volume where a first write would not allocate anything.
func checkEmpty(f *faults, path string, s Stack, storage string) {
	if !s.Empty {
		return
	}
	if s.Discard != "unmap" {
		f.add(path+".empty", "the volume is emptied by a discard in the guest; expected discard \"unmap\" beside it%s", ref(path+".discard"))
	}
	thin := s.Format == "qcow2" || storage == "lvm-thin" || storage == "zvol" || storage == "zfs-file" || storage == "file" && s.Preallocation == "off"
	if !thin || s.Ceiling() || s.Snapshot != "" || s.BackingFile || s.Preallocation == "falloc" || s.Preallocation == "full" {
		f.add(path+".empty", "a first write allocates nothing here; expected a qcow2 image, a raw file with preallocation off, a thin volume or ZFS, without a snapshot")
	}
}

// either lists words as "a or b".
func either(words []string) string {
	text := words[0]
	for i, w := range words[1:] {
		if i == len(words)-2 {
			text += " or " + w
		} else {
			text += ", " + w
		}
	}
	return text
}

// keysOf lists, in order, the keys that hold true: faults come in the same order every time.
func keysOf(given map[string]bool) []string {
	return slices.Sorted(func(yield func(string) bool) {
		for key, is := range given {
			if is && !yield(key) {
				return
			}
		}
	})
}
