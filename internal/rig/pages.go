package rig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/unit"
)

// undos are acts of one boot to be undone with it, newest first. The journal has them too, for a run that is killed.
type undos []func() error

func (u undos) all() error {
	var faults []error
	for i := len(u) - 1; i >= 0; i-- {
		faults = append(faults, u[i]())
	}
	return errors.Join(faults...)
}

// memoryFor prepares the host for a guest's memory: reserves huge pages, and finds the folder for memory in a file. The
// errors are the host's own, with a hint: they are about this guest alone, and another may well start.
func (r *Rig) memoryFor(g spec.Guest, shared bool) (folder string, undo undos, err error) {
	if g.Hugepages != 0 {
		giveBack, err := pool(g.Hugepages).reserve(r.Journal, g.Memory/g.Hugepages)
		if err != nil {
			return "", nil, err
		}
		undo = append(undo, giveBack)
	}
	switch {
	case g.MemoryBackend != "file":
		return "", undo, nil
	case g.Hugepages != 0:
		folder, unmount, err := r.hugetlbfs(g.Hugepages)
		if err != nil {
			return "", nil, errors.Join(err, undo.all())
		}
		return folder, append(undo, unmount), nil
	case shared: // what the guest writes would go to the disk under an ordinary file, beside what is measured
		return "/dev/shm", undo, roomIn("/dev/shm", g.Memory)
	}
	return r.Dir, undo, nil // mapped privately: nothing goes to its disk
}

func roomIn(folder string, size int64) error {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return errkind.Userf("memory that is shared lies in %s: %w", folder, err)
	}
	if room := int64(st.Bavail) * st.Bsize; room < size {
		return errkind.WithHint(errkind.Userf("%s has room for %s of the guest's %s", folder, unit.Bytes(room), unit.Bytes(size)),
			"mount -o remount,size=%d %s, or memory_backend: memfd", size*2, folder)
	}
	return nil
}

// pages is the pool of huge pages of one size: a folder of sysfs.
type pages struct {
	dir  string
	size int64 // bytes of a page
	// write asks the kernel for a setting. It gives as much as it can, and says no word when that is less.
	write func(file, text string) error
}

func pool(size int64) pages {
	return pages{fmt.Sprintf("/sys/kernel/mm/hugepages/hugepages-%dkB", size>>10), size, func(file, text string) error {
		return os.WriteFile(file, []byte(text), 0o644)
	}}
}

// journal is what reserve needs of a revert.Journal.
type journal interface {
	Add(revert.Act) (revert.Entry, error)
	Forget(revert.Entry) error
}

func (p pages) file(name string) string { return filepath.Join(p.dir, name) }

func (p pages) count(name string) (int64, error) {
	text, err := os.ReadFile(p.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, errkind.WithHint(errkind.Userf("this kernel or CPU has no huge pages of %s", unit.ExactBytes(p.size)), "take pages of another size, or none")
	}
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

func (p pages) set(n int64) error {
	err := p.write(p.file("nr_hugepages"), strconv.FormatInt(n, 10))
	if errors.Is(err, fs.ErrPermission) {
		return errkind.WithHint(errkind.Userf("reserving huge pages: %w", err), "run as root, or reserve them before: sysctl vm.nr_hugepages")
	}
	return err
}

// reserve sees to it that n pages are free. Those that are free already, and promised to nobody, are used first; what is
// missing is added to the pool. giveBack takes away what was added and nothing more, and is to be called when the guest
// has ended.
func (p pages) reserve(j journal, n int64) (giveBack func() error, err error) {
	total, err := p.count("nr_hugepages")
	if err != nil {
		return nil, err
	}
	free, err := p.count("free_hugepages")
	if err != nil {
		return nil, err
	}
	promised, err := p.count("resv_hugepages")
	if err != nil {
		return nil, err
	}
	lack := n - (free - promised)
	if lack <= 0 {
		return func() error { return nil }, nil
	}
	entry, err := j.Add(revert.Sysfs(p.file("nr_hugepages"), strconv.FormatInt(total, 10)))
	if err != nil {
		return nil, err
	}
	err = p.set(total + lack)
	now, countErr := p.count("nr_hugepages")
	added := max(now-total, 0)
	giveBack = func() error {
		now, err := p.count("nr_hugepages")
		if err == nil && added > 0 {
			err = p.set(now - min(added, now))
		}
		return errors.Join(err, j.Forget(entry))
	}
	if err = errors.Join(err, countErr); err == nil && added < lack {
		err = errkind.WithHint(errkind.Userf("the guest's memory takes %d huge pages of %s, and the kernel gave %d of the %d that were not free yet",
			n, unit.ExactBytes(p.size), added, lack), "free memory on the host, or reserve the pages when it starts: hugepagesz=%s hugepages=%d on its kernel's command line", hugetlbWord(p.size), n)
	}
	if err != nil {
		return nil, errors.Join(err, giveBack())
	}
	return giveBack, nil
}

// hugetlbWord is a page size as the kernel's command line and mount options write it.
func hugetlbWord(size int64) string {
	if size >= 1<<30 {
		return strconv.FormatInt(size>>30, 10) + "G"
	}
	return strconv.FormatInt(size>>20, 10) + "M"
}

// hugetlbfs finds the file system whose files consist of huge pages of one size, or mounts one for this boot.
func (r *Rig) hugetlbfs(size int64) (folder string, unmount func() error, err error) {
	mounts, err := mountinfo.GetMounts(mountinfo.FSTypeFilter("hugetlbfs"))
	if err != nil {
		return "", nil, err
	}
	for _, m := range mounts {
		if hasPageSize(m.VFSOptions, size) && unix.Access(m.Mountpoint, unix.W_OK) == nil {
			return m.Mountpoint, func() error { return nil }, nil
		}
	}
	folder = filepath.Join(r.Dir, "huge-"+hugetlbWord(size))
	if err := r.Journal.MkdirAll(folder); err != nil {
		return "", nil, err
	}
	const source = "iotax"
	entry, err := r.Journal.Add(revert.Umount(folder, source))
	if err != nil {
		return "", nil, err
	}
	if err := unix.Mount(source, folder, "hugetlbfs", 0, "pagesize="+hugetlbWord(size)); err != nil {
		err = errkind.WithHint(errkind.Userf("mounting a file system of huge pages: %w", err), "run as root, or take memory_backend: memfd")
		return "", nil, errors.Join(err, r.Journal.Forget(entry))
	}
	return folder, func() error { return errors.Join(unix.Unmount(folder, 0), r.Journal.Forget(entry)) }, nil
}

// hasPageSize reads the options of a hugetlbfs: "rw,pagesize=2M", where the kernel writes 1 GiB as 1024M.
func hasPageSize(options string, size int64) bool {
	for o := range strings.SplitSeq(options, ",") {
		if word, ok := strings.CutPrefix(o, "pagesize="); ok {
			n, err := unit.ParseBytes(word)
			return err == nil && n == size
		}
	}
	return false
}
