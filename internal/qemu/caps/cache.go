package caps

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// format changes whenever Caps does, so that a cache of another iotax is not believed.
const format = 3

// Cached is Probe that remembers its answer in the folder dir, which it makes. The answer holds for as long as the
// binary has the same path, time and size and the kernel is the same. One in which an aio value was refused is not
// kept: what makes it work, an aio context set free or a container left, would not be noticed. Nor is any where the
// folder cannot be written to.
func Cached(ctx context.Context, binary, dir string) (Caps, error) {
	path, err := find(binary)
	if err != nil {
		return Caps{}, err
	}
	key, err := cacheKey(path)
	if err != nil {
		return Caps{}, err
	}
	file := filepath.Join(dir, "qemu-"+key+".json")
	if c, ok := load(file); ok {
		return c, nil
	}
	scratch := dir
	if err := os.MkdirAll(dir, 0o755); err != nil || unix.Access(dir, unix.W_OK|unix.X_OK) != nil {
		scratch = os.TempDir()
	}
	c, err := probe(ctx, path, scratch)
	if err == nil && len(c.Refused) == 0 && scratch == dir {
		_ = save(file, c) // what cannot be kept is asked again: that costs half a second
	}
	return c, err
}

func cacheKey(path string) (string, error) {
	st, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	kernel := ""
	for _, name := range []string{"osrelease", "io_uring_disabled"} { // the second since Linux 6.6
		data, _ := os.ReadFile("/proc/sys/kernel/" + name)
		kernel += strings.TrimSpace(string(data)) + "\n"
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s\n%d\n%d\n%s", format, path, st.ModTime().UnixNano(), st.Size(), kernel))
	return fmt.Sprintf("%x", sum[:8]), nil
}

// load reads a cached answer; one that cannot be read does not count.
func load(file string) (Caps, bool) {
	var c Caps
	data, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(data, &c) != nil {
		return Caps{}, false
	}
	return c, len(c.Devices) > 0
}

// save writes the file whole or not at all, since another iotax may read it meanwhile.
func save(file string, c Caps) error {
	data, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), "qemu-*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}
