// Package facts looks at this host for what the rules of an audit want to know. It changes nothing, and what it cannot find
// out stays unknown: a disk that is not here is no error.
package facts

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/audit"
	"github.com/iotax/iotax/internal/hostenv"
	"github.com/iotax/iotax/internal/sys"
	"github.com/iotax/iotax/internal/vmconf"
)

// patience bounds each question to another program: storage that is gone does not answer.
const patience = 10 * time.Second

// Source is where facts come from.
type Source struct {
	Root string // below which /proc, /sys and /dev are; "" = "/"
	Run  sys.Runner

	stat       func(path string) (entry, error) // nil = the real one, and so below
	zvol       func(device string) (string, error)
	attributes func(path string) (flags int, err error) // of a file, FS_*_FL of linux/fs.h
}

// entry is what a path is.
type entry struct {
	block        bool // a block device, of this number
	file         bool
	major, minor uint32
	size         int64 // of a file, and so below
	allocated    int64
}

// Volumes looks at what lies under the disks of machines, by the Source.Value of each disk. Those that are not here are left
// out.
func (s Source) Volumes(ctx context.Context, vms []vmconf.VM) map[string]audit.Volume {
	found := map[string]audit.Volume{}
	for _, vm := range vms {
		for _, d := range vm.Disks {
			if _, seen := found[d.Source.Value]; seen || d.Source.Value == "" || d.Device != "disk" && d.Device != "lun" {
				continue
			}
			if v := s.volume(ctx, s.locate(ctx, vm.Kind, d), d.Format.Value); v.Path != "" {
				found[d.Source.Value] = v
			}
		}
	}
	return found
}

// locate is the absolute path of a disk, "" when it cannot be told. Volumes of storages and pools have one that only their
// owner knows.
func (s Source) locate(ctx context.Context, kind string, d vmconf.Disk) string {
	source := d.Source.Value
	for _, prefix := range []string{"phy:", "file:"} {
		source = strings.TrimPrefix(source, prefix)
	}
	switch {
	case filepath.IsAbs(source):
		return source
	case kind == vmconf.Proxmox && strings.Contains(source, ":"):
		return s.say(ctx, "pvesm", "path", source)
	case kind == vmconf.Libvirt && d.Pool != "":
		return s.say(ctx, "virsh", "--quiet", "--readonly", "vol-path", "--pool", d.Pool, strings.TrimPrefix(source, d.Pool+"/"))
	}
	return ""
}

// say is what a program says in one line, "" when it fails or is not here.
func (s Source) say(ctx context.Context, argv ...string) string {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := s.Run.LookPath(argv[0]); err != nil {
		return ""
	}
	out, err := s.Run.Run(ctx, sys.Command{Argv: argv})
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func (s Source) env() hostenv.Host { return hostenv.Host{Root: s.Root} }

func (s Source) path(parts ...string) string {
	return filepath.Join(append([]string{"/" + s.Root}, parts...)...)
}

// read returns the trimmed text of a file, "" when it cannot be read.
func (s Source) read(parts ...string) string {
	text, err := os.ReadFile(s.path(parts...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// count reads a number, nil when there is none.
func (s Source) count(parts ...string) *int64 {
	n, err := strconv.ParseInt(s.read(parts...), 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

func (s Source) entry(path string) (entry, error) {
	if s.stat != nil {
		return s.stat(path)
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return entry{}, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	const sector = 512 // of st_blocks, on every file system
	return entry{
		block: st.Mode&unix.S_IFMT == unix.S_IFBLK, file: st.Mode&unix.S_IFMT == unix.S_IFREG,
		major: unix.Major(st.Rdev), minor: unix.Minor(st.Rdev), size: st.Size, allocated: sector * st.Blocks,
	}, nil
}
