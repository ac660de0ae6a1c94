package kernel

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/sys"
)

// metaPackages names, per architecture, the packages that depend on the current kernel: Debian's, then Ubuntu's.
func metaPackages() []string {
	return []string{"linux-image-" + runtime.GOARCH, "linux-image-generic"}
}

// TempPrefix begins the names of the folders, below <cache>/kernel, into which packages are fetched.
const TempPrefix = ".fetch-"

// wanted are the module folders that a guest of ours may need: everything else of the package stays packed.
var wanted = regexp.MustCompile(`/kernel/(drivers/(ata|block|char|nvme|scsi|virtio|usb|message|hwmon|dca|md|net/virtio|firmware)|lib|crypto|block|arch|fs/(ext4|jbd2|mbcache|configfs))`)

// fetch downloads the distribution's kernel package with apt and unpacks what is needed of it into the cache.
func fetch(ctx context.Context, o Options) (Kernel, error) {
	packages, err := fetchable(ctx)
	if err != nil {
		return Kernel{}, err
	}
	dir := filepath.Join(o.Cache, "kernel")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Kernel{}, err
	}
	temp, err := revert.NewTemp(dir, TempPrefix)
	if err != nil {
		return Kernel{}, err
	}
	defer temp.Close() //nolint:errcheck // a folder that cannot be removed is left for Sweep
	work := temp.Dir
	o.log("downloading the guest kernel: %s (unpacked into %s, nothing is installed)", strings.Join(packages, ", "), dir)
	if _, err := command(ctx, work, "apt-get", append([]string{"-q", "download", "-o", "APT::Sandbox::User=root"}, packages...)...); err != nil {
		if ctx.Err() != nil {
			return Kernel{}, err
		}
		return Kernel{}, errkind.WithHint(err, "try `apt-get update` first")
	}
	debs, _ := filepath.Glob(filepath.Join(work, "*.deb"))
	tree := filepath.Join(work, "tree")
	for _, deb := range debs {
		if err := unpackDeb(ctx, deb, tree); err != nil {
			return Kernel{}, fmt.Errorf("%s: %w", filepath.Base(deb), err)
		}
	}
	// Another iotax may have been quicker: whichever rename comes first wins, both trees are the same.
	if err := os.Rename(tree, filepath.Join(dir, packages[0])); err != nil && !errors.Is(err, os.ErrExist) {
		if _, ok := cached(o.Cache); !ok {
			return Kernel{}, err
		}
	}
	k, ok := cached(o.Cache)
	if !ok {
		return Kernel{}, fmt.Errorf("packages %s hold no kernel with modules", strings.Join(packages, ", "))
	}
	return k, nil
}

// fetchable names the packages that fetch would download.
func fetchable(ctx context.Context) ([]string, error) {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return nil, errkind.Userf("no guest kernel: neither /boot with /lib/modules nor apt-get is here; " +
			"unpack a distribution's kernel package and give --kernel VMLINUZ --modules .../lib/modules/RELEASE")
	}
	packages, err := resolve(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx) // whatever the tools that were cut short seemed to say
	}
	return packages, err
}

// resolve follows a meta package to the kernel package and, on Ubuntu, to the modules' own packages.
func resolve(ctx context.Context) ([]string, error) {
	for _, meta := range metaPackages() {
		image := kernelDepends(ctx, meta)
		if len(image) == 0 {
			continue
		}
		packages := image
		for _, p := range image {
			packages = append(packages, kernelDepends(ctx, p)...)
		}
		return unique(packages), nil
	}
	return nil, errkind.Userf("no kernel package found under the names %s; run `apt-get update`, or give --kernel and --modules", strings.Join(metaPackages(), ", "))
}

var kernelPackage = regexp.MustCompile(`linux-(?:image|modules)(?:-unsigned|-extra)?-[0-9][^\s,(|]*`)

// kernelDepends returns the versioned kernel packages that a package depends on.
func kernelDepends(ctx context.Context, name string) []string {
	out, err := command(ctx, "", "apt-cache", "show", "--no-all-versions", name)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(out)) {
		if deps, ok := strings.CutPrefix(line, "Depends:"); ok {
			return kernelPackage.FindAllString(deps, -1)
		}
	}
	return nil
}

func unpackDeb(ctx context.Context, deb, dest string) error {
	r, w := io.Pipe()
	go func() {
		_, err := sys.Exec{}.Run(ctx, sys.Command{Argv: []string{"dpkg-deb", "--fsys-tarfile", deb}, Stdout: w})
		w.CloseWithError(err)
	}()
	err := unpackTar(r, dest)
	if err == nil {
		_, err = io.Copy(io.Discard, r) // so that dpkg-deb can end by itself, and how it ended is known
	}
	r.CloseWithError(err)
	return err
}

// unpackTar writes the kernel image and the wanted modules of a package's archive below dest.
func unpackTar(r io.Reader, dest string) error {
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(filepath.Clean("/"+h.Name), "/usr")
		if h.Typeflag != tar.TypeReg {
			continue
		}
		target := ""
		switch {
		case strings.HasPrefix(name, "/boot/vmlinuz-"):
			target = "vmlinuz"
		case strings.HasPrefix(name, "/lib/modules/") && (wanted.MatchString(name) || filepath.Base(name) == "modules.builtin"):
			target = name
		default:
			continue
		}
		if err := writeFile(filepath.Join(dest, target), tr); err != nil {
			return err
		}
	}
}

func writeFile(path string, r io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

func command(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	return sys.Exec{}.Run(ctx, sys.Command{Argv: append([]string{name}, args...), Dir: dir})
}

func unique(names []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}
