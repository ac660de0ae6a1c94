package experiment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/hostenv"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
)

// Available is what can be measured of an experiment: without the stacks that were judged to be unavailable, and so without
// what it says of its results, which may speak of them.
func Available(e spec.Experiment, judged []record.Stack) spec.Experiment {
	stacks := e.Stacks
	e.Stacks, e.Statements, e.Figures = nil, nil, nil
	for i, s := range stacks {
		if judged[i].Unavailable == "" {
			e.Stacks = append(e.Stacks, s)
		}
	}
	return e
}

// NothingToCompare refuses an experiment of whose disks this host can offer none: disks of no latency alone answer none of its
// questions, nor do loads on the host where guests were to be compared. judged is what was found out of each stack.
func NothingToCompare(e spec.Experiment, judged []record.Stack) error {
	guests := slices.ContainsFunc(e.Stacks, func(s spec.Stack) bool { return !s.Ceiling() && !s.OnHost() })
	var reasons, mends []string
	for i, s := range e.Stacks {
		if s.Ceiling() || guests && s.OnHost() {
			continue
		}
		is := judged[i]
		if is.Unavailable == "" {
			return nil
		}
		if !slices.Contains(reasons, is.Unavailable) {
			reasons = append(reasons, is.Unavailable)
		}
		if is.Mend != "" && !slices.Contains(mends, is.Mend) {
			mends = append(mends, is.Mend)
		}
	}
	if len(reasons) == 0 { // it is about nothing else
		return nil
	}
	return errkind.WithHint(errkind.Userf("no disk of %s can be offered here: %s", e.Name, strings.Join(reasons, "; ")), "%s", strings.Join(mends, "; "))
}

// Place is where scratch volumes would lie.
type Place struct {
	Path       string // the folder or device that was asked for
	Existing   string // the nearest folder to it that is there already
	Filesystem string // type, "" for a device
	Storage    hostenv.Storage
	Device     record.Device
}

// Look examines a scratch folder, which may not exist yet. That it takes no O_DIRECT is a fault of the request.
func Look(h hostenv.Host, folder string) (Place, error) {
	p := Place{Path: folder, Existing: existingParent(folder)}
	info, err := os.Stat(p.Existing)
	if err != nil {
		return p, errkind.Userf("scratch folder: %w", err)
	}
	if !info.IsDir() {
		return p, errkind.Userf("scratch folder %s: %s is not a folder", folder, p.Existing)
	}
	if err := unix.Access(p.Existing, unix.W_OK|unix.X_OK); err != nil {
		return p, errkind.WithHint(errkind.Userf("scratch folder %s: %s cannot be written to: %w", folder, p.Existing, err),
			"give a folder of your own with --scratch, or run as root")
	}
	fs, err := h.Filesystem(p.Existing)
	if err != nil {
		return p, err
	}
	p.Filesystem = fs.Type
	err = hostenv.DirectIO(p.Existing)
	if fs.Type == "tmpfs" || fs.Type == "ramfs" { // they take O_DIRECT since Linux 6.6, and are no disk for it
		err = errors.New("files on " + fs.Type + " are in memory: there is no disk to measure")
	}
	if err != nil {
		return p, errkind.WithHint(errkind.Userf("scratch folder %s: %w", folder, err),
			"give a folder on a disk's own file system with --scratch")
	}
	return p, p.resolve(h, p.Existing)
}

// Caution is what a reader has to know of a scratch folder's kind of file system, "" for most. Before OpenZFS 2.3 O_DIRECT is
// taken and does not pass the cache by (zfsprops(7), direct), and since then only where the property allows it.
func Caution(filesystem string) string {
	if filesystem != "zfs" {
		return ""
	}
	return "the scratch folder is on ZFS: its cache (ARC) answers the host's own loads too, so that the host is no bare disk; " +
		"volumes of --zpool, or a disk given with --device, have one under them"
}

func (p *Place) resolve(h hostenv.Host, path string) (err error) {
	if p.Storage, err = h.Resolve(path); err == nil {
		p.Device = h.Device(p.Storage)
	}
	return err
}

func existingParent(path string) string {
	for dir := path; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
	}
}

// Need is how many bytes of their folder's file system the volumes of an experiment take, at most.
func Need(w sys.World, e spec.Experiment) (int64, error) {
	r := &Ready{Options: Options{Experiment: e}, world: w, Stacks: make([]record.Stack, len(e.Stacks))}
	return r.need()
}

func (r *Ready) need() (sum int64, err error) {
	_, jobs := r.outline()
	for _, job := range jobs {
		n, err := job.Driver.Need(job.Request)
		if err != nil {
			return 0, fmt.Errorf("volume of %s: %w", job.Request.Stack.Name, err)
		}
		sum += n
	}
	return sum, nil
}

// CheckMemory refuses a guest that would take more than half of the host's memory; 0 stands for a host that does
// not say how much it has.
func CheckMemory(host int64, g spec.Guest) error {
	if host > 0 && g.Memory > host/2 {
		return errkind.Userf("guest.memory: %d MiB is more than half of this host's %d MiB", g.Memory>>20, host>>20)
	}
	return nil
}

// Running names the process of another iotax that measures with this state folder, "" when there is none.
func Running(stateDir string) (string, error) {
	f, err := os.Open(filepath.Join(stateDir, lockFile))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close() // and with it the lock, if it was free
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if !errors.Is(err, unix.EWOULDBLOCK) {
		return "", err
	}
	owner, _ := os.ReadFile(f.Name())
	return "process " + strings.TrimSpace(string(owner)), nil
}
