// Package lab is a Debian machine with LVM, dm-thin, ZFS and Xen under software emulation, for tests on hosts that
// have none of them, and a second QEMU beside the host's. Both are built once from Debian packages and cached.
package lab

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // of the recipe
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/guest/kernel"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/sys"
)

//go:embed recipe/build.sh
var recipe []byte

// Part is something that is built and cached by itself.
type Part string

// The parts of the lab. Their names are commands of the recipe.
const (
	Host Part = "machine" // the machine that is booted: root.raw, boot, modules
	QEMU Part = "qemu"    // the QEMU of another release of Debian: bin/qemu-system-x86_64 and its tools
)

// Build returns the folder of a part, which it builds when it is not there yet; what the recipe says of its progress
// goes to log. Building takes root and some minutes. Who builds at the same time as another waits and takes what the
// other built.
func Build(ctx context.Context, part Part, log io.Writer) (string, error) {
	b, err := ours()
	if err != nil {
		return "", err
	}
	dir, ok, err := b.find(ctx, part)
	if err != nil || ok {
		return dir, err
	}
	if os.Geteuid() != 0 {
		return "", errkind.Userf("building the lab needs root, since packages are installed into a root file system of its own")
	}
	return b.build(ctx, part, log)
}

// Find returns the folder of a part that was built from today's recipe and packages; ok is false when there is none.
func Find(ctx context.Context, part Part) (dir string, ok bool, err error) {
	b, err := ours()
	if err != nil {
		return "", false, err
	}
	return b.find(ctx, part)
}

// builder keeps what a recipe makes in the folder cache: PART-KEY, where the key is of the recipe and of what it would
// build from.
type builder struct {
	cache  string
	recipe []byte
}

// ours keeps the lab in IOTAX_LAB, else in the folder lab of iotax's cache.
func ours() (builder, error) {
	world, err := sys.OS()
	if err != nil {
		return builder{}, err
	}
	if dir := world.Getenv("IOTAX_LAB"); dir != "" {
		return builder{filepath.Clean(world.Abs(dir)), recipe}, nil
	}
	dir, err := world.CacheDir()
	return builder{filepath.Join(dir, "lab"), recipe}, err
}

func (b builder) find(ctx context.Context, part Part) (dir string, ok bool, err error) {
	var versions bytes.Buffer
	if err := b.run(ctx, &versions, "versions", string(part)); err != nil {
		return "", false, err
	}
	key := sha256.Sum256(append(versions.Bytes(), b.recipe...))
	dir = filepath.Join(b.cache, string(part)+"-"+hex.EncodeToString(key[:8]))
	_, err = os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return dir, false, nil
	}
	return dir, err == nil, err
}

// build is Build. The folder appears whole or not at all.
func (b builder) build(ctx context.Context, part Part, log io.Writer) (string, error) {
	if err := os.MkdirAll(b.cache, 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(b.cache, string(part)+".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return "", err
	}
	dir, ok, err := b.find(ctx, part)
	if err != nil || ok {
		return dir, err
	}
	temp, err := revert.NewTemp(b.cache, ".build-"+string(part)+"-")
	if err != nil {
		return "", err
	}
	defer temp.Close() //nolint:errcheck // a folder that cannot be removed is swept by the next builder
	if err := b.run(ctx, log, string(part), temp.Dir); err != nil {
		return "", err
	}
	if part == Host {
		if err := unpackKernel(filepath.Join(temp.Dir, "boot")); err != nil {
			return "", err
		}
	}
	if err := os.Chmod(temp.Dir, 0o755); err != nil {
		return "", err
	}
	return dir, os.Rename(temp.Dir, dir)
}

// run runs the recipe.
func (b builder) run(ctx context.Context, out io.Writer, args ...string) error {
	script, err := os.CreateTemp("", "iotax-lab-*.sh")
	if err != nil {
		return err
	}
	defer os.Remove(script.Name())
	if _, err := script.Write(b.recipe); err != nil {
		return err
	}
	if err := script.Close(); err != nil {
		return err
	}
	_, err = sys.Exec{}.Run(ctx, sys.Command{Argv: append([]string{"sh", script.Name()}, args...), Stdout: out})
	return err
}

// unpackKernel leaves beside vmlinuz the image that QEMU and Xen boot without unpacking it under emulation.
func unpackKernel(boot string) error {
	packed, err := os.ReadFile(filepath.Join(boot, "vmlinuz"))
	if err != nil {
		return err
	}
	image, err := kernel.Vmlinux(packed)
	if err == nil && !kernel.HasPVH(image) {
		err = errors.New("it has no PVH entry")
	}
	if err != nil {
		return fmt.Errorf("the lab's kernel: %w", err)
	}
	return os.WriteFile(filepath.Join(boot, "vmlinux"), image, 0o644)
}
