package kernel

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/errkind"
)

// Kernel is a bootable image and the modules that belong to it.
type Kernel struct {
	Release string // as uname -r says it
	Image   string // path of vmlinuz
	Modules string // folder .../lib/modules/RELEASE
	Source  string // "host", "cache" or "given"
}

// Options says where to look.
type Options struct {
	Image, Modules string       // given by the user: both or none
	Root           string       // root of the host's file system, "/" outside tests
	Cache          string       // folder for unpacked packages
	Log            func(string) // told in plain words what is done; may be nil
}

// Find returns the kernel to boot: the given one, the host's own (the closest to what the host's
// guests run), one that was unpacked before, or the distribution's package unpacked into the cache.
func Find(ctx context.Context, o Options) (Kernel, error) {
	k, err := local(o)
	if err != nil || k.Image != "" {
		return k, err
	}
	return fetch(ctx, o)
}

// Look is Find that downloads nothing: where there is no kernel yet, it names the packages that Find would fetch,
// as far as the package lists of this host tell.
func Look(ctx context.Context, o Options) (k Kernel, packages []string, err error) {
	if k, err = local(o); err != nil || k.Image != "" {
		return k, nil, err
	}
	packages, err = fetchable(ctx)
	return k, packages, err
}

// local is the kernel that is on this host already, none when there is none.
func local(o Options) (Kernel, error) {
	if o.Image != "" || o.Modules != "" {
		return given(o)
	}
	k, ok := ofHost(o.Root)
	if !ok {
		k, _ = cached(o.Cache)
	}
	return k, nil
}

func given(o Options) (Kernel, error) {
	var faults errkind.List
	if o.Image == "" || o.Modules == "" {
		faults = append(faults, errkind.Userf("--kernel and --modules belong together: give both"))
	}
	if o.Image != "" && !readable(o.Image) {
		faults = append(faults, errkind.Userf("--kernel %s: cannot be read", o.Image))
	}
	if o.Modules != "" && !isModules(o.Modules) {
		faults = append(faults, errkind.Userf("--modules %s: not a folder of kernel modules, expected one like /lib/modules/6.1.0-42-amd64", o.Modules))
	}
	if err := faults.Err(); err != nil {
		return Kernel{}, err
	}
	return Kernel{Release: filepath.Base(filepath.Clean(o.Modules)), Image: o.Image, Modules: o.Modules, Source: "given"}, nil
}

// ofHost finds the running kernel's files, else the newest complete pair under /boot.
func ofHost(root string) (Kernel, bool) {
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		return Kernel{}, false
	}
	if k, ok := pair(root, unix.ByteSliceToString(uts.Release[:])); ok {
		return k, true
	}
	images, _ := filepath.Glob(filepath.Join(root, "boot", "vmlinuz-*"))
	slices.SortFunc(images, byVersion)
	for i := len(images) - 1; i >= 0; i-- {
		if k, ok := pair(root, strings.TrimPrefix(filepath.Base(images[i]), "vmlinuz-")); ok {
			return k, true
		}
	}
	return Kernel{}, false
}

// pair looks for image and modules of one release where distributions put them.
func pair(root, release string) (Kernel, bool) {
	modules := filepath.Join(root, "lib", "modules", release)
	if !isModules(modules) {
		return Kernel{}, false
	}
	for _, image := range []string{
		filepath.Join(root, "boot", "vmlinuz-"+release),
		filepath.Join(modules, "vmlinuz"), // Fedora
	} {
		if readable(image) {
			return Kernel{Release: release, Image: image, Modules: modules, Source: "host"}, true
		}
	}
	return Kernel{}, false
}

func cached(cache string) (Kernel, bool) {
	found, _ := filepath.Glob(filepath.Join(cache, "kernel", "*", "lib", "modules", "*"))
	slices.SortFunc(found, func(a, b string) int { return byVersion(filepath.Base(a), filepath.Base(b)) })
	for i := len(found) - 1; i >= 0; i-- {
		top := filepath.Join(found[i], "..", "..", "..")
		k := Kernel{Release: filepath.Base(found[i]), Image: filepath.Join(top, "vmlinuz"), Modules: found[i], Source: "cache"}
		if readable(k.Image) && isModules(k.Modules) {
			return k, true
		}
	}
	return Kernel{}, false
}

// byVersion compares as a person does: runs of digits by their value, 6.1.0-9 before 6.1.0-10, the rest as text.
func byVersion(a, b string) int {
	partsA, partsB := versionPart.FindAllString(a, -1), versionPart.FindAllString(b, -1)
	for i := range min(len(partsA), len(partsB)) {
		x, y := partsA[i], partsB[i]
		if digits(x) && digits(y) {
			x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			if c := cmp.Compare(len(x), len(y)); c != 0 {
				return c
			}
		}
		if c := strings.Compare(x, y); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(partsA), len(partsB))
}

var versionPart = regexp.MustCompile(`[0-9]+|[^0-9]+`)

func digits(s string) bool { return s[0] >= '0' && s[0] <= '9' }

func readable(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	f.Close()
	return true
}

func isModules(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "kernel"))
	return err == nil && info.IsDir()
}

func (o Options) log(format string, args ...any) {
	if o.Log != nil {
		o.Log(fmt.Sprintf(format, args...))
	}
}
