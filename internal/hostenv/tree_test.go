package hostenv

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree makes a host of hand-written files: path -> text, a text "-> target" makes a link, "dir" an empty folder.
// nodes are the paths that have a device number.
func tree(t *testing.T, files map[string]string, nodes map[string]number) Host {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		switch target, isLink := strings.CutPrefix(text, "-> "); {
		case isLink:
			err = os.Symlink(target, path)
		case text == "dir":
			err = os.MkdirAll(path, 0o700)
		default:
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return Host{Root: root, vdevs: pools, zvolName: zvols, stat: func(path string) (number, error) {
		n, ok := nodes[path]
		if !ok {
			return number{}, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
		}
		return n, nil
	}}
}

// pools are those of the example: one over a partition and a loop device, one over a file on that one, one with a
// device that is gone, and one over its own zvol. Others are not there.
func pools(name string) ([]string, error) {
	switch name {
	case "tank":
		return []string{"/dev/sda1", "/dev/loop0"}, nil
	case "inner":
		return []string{"/tank/x"}, nil
	case "torn":
		return []string{"/dev/sda1", "/dev/gone"}, nil
	case "ring":
		return []string{"/dev/zd32"}, nil
	}
	return nil, errors.New("zpool list: exit status 1\ncannot open: no such pool")
}

func zvols(device string) (string, error) {
	names := map[string]string{"/dev/zd0": "tank/vm/disk", "/dev/zd16": "inner/disk", "/dev/zd32": "ring/disk"}
	if name, ok := names[device]; ok {
		return name, nil
	}
	return "", &fs.PathError{Op: "BLKZNAME", Path: device, Err: fs.ErrInvalid}
}

func exampleHost(t *testing.T) Host {
	t.Helper()
	files, nodes := disks()
	return tree(t, files, nodes)
}

// disks is a host with a disk of two partitions, a volume (dm-1) encrypted (dm-0) on the second, a mirror over two
// more disks, a loop device on a file of the mirror, and things that are no disks.
func disks() (map[string]string, map[string]number) {
	files := map[string]string{
		"sys/dev/block/8:0":    "-> ../../devices/pci/block/sda",
		"sys/dev/block/8:1":    "-> ../../devices/pci/block/sda/sda1",
		"sys/dev/block/8:2":    "-> ../../devices/pci/block/sda/sda2",
		"sys/dev/block/8:16":   "-> ../../devices/pci/block/sdb",
		"sys/dev/block/8:32":   "-> ../../devices/pci/block/sdc",
		"sys/dev/block/8:48":   "-> ../../devices/pci/block/sdd",
		"sys/dev/block/253:0":  "-> ../../devices/virtual/block/dm-0",
		"sys/dev/block/253:1":  "-> ../../devices/virtual/block/dm-1",
		"sys/dev/block/9:0":    "-> ../../devices/virtual/block/md0",
		"sys/dev/block/7:0":    "-> ../../devices/virtual/block/loop0",
		"sys/dev/block/7:1":    "-> ../../devices/virtual/block/loop1",
		"sys/dev/block/7:2":    "-> ../../devices/virtual/block/loop2",
		"sys/dev/block/230:0":  "-> ../../devices/virtual/block/zd0",
		"sys/dev/block/230:16": "-> ../../devices/virtual/block/zd16",
		"sys/dev/block/230:32": "-> ../../devices/virtual/block/zd32",
		"sys/dev/block/230:48": "-> ../../devices/virtual/block/zd48",
		"sys/dev/block/252:0":  "-> ../../devices/virtual/block/zram0",
		"sys/block/sda":        "-> ../devices/pci/block/sda",
		"sys/block/sdb":        "-> ../devices/pci/block/sdb",
		"sys/block/sdc":        "-> ../devices/pci/block/sdc",
		"sys/block/sdd":        "-> ../devices/pci/block/sdd",
		"sys/block/loop0":      "-> ../devices/virtual/block/loop0",
		"sys/block/loop1":      "-> ../devices/virtual/block/loop1",
		"sys/block/loop2":      "-> ../devices/virtual/block/loop2",
		"sys/class/block/sda":  "-> ../../devices/pci/block/sda",
		"sys/class/block/sda1": "-> ../../devices/pci/block/sda/sda1",
		"sys/class/block/sdd":  "-> ../../devices/pci/block/sdd",

		"sys/devices/pci/block/sda/sda1/partition":          "1\n",
		"sys/devices/pci/block/sda/sda1/dev":                "8:1\n",
		"sys/devices/pci/block/sda/sda2/partition":          "2\n",
		"sys/devices/pci/block/sda/sda2/dev":                "8:2\n",
		"sys/devices/pci/block/sda/sda2/holders/dm-0":       "-> ../../../../../virtual/block/dm-0",
		"sys/devices/pci/block/sda/ro":                      "0\n",
		"sys/devices/pci/block/sda/device/model":            "Samsung SSD 870 \n",
		"sys/devices/pci/block/sda/queue/rotational":        "0\n",
		"sys/devices/pci/block/sda/queue/write_cache":       "write back\n",
		"sys/devices/pci/block/sda/queue/scheduler":         "none [mq-deadline] bfq\n",
		"sys/devices/pci/block/sdb/device/model":            "WDC WD40EFRX\n",
		"sys/devices/pci/block/sdb/queue/rotational":        "1\n",
		"sys/devices/pci/block/sdb/queue/write_cache":       "write through\n",
		"sys/devices/pci/block/sdb/queue/scheduler":         "none [bfq]\n",
		"sys/devices/pci/block/sdb/holders/md0":             "-> ../../../../virtual/block/md0",
		"sys/devices/pci/block/sdc/device/modalias":         "virtio:d00000002v00001AF4\n",
		"sys/devices/pci/block/sdc/queue/rotational":        "0\n",
		"sys/devices/pci/block/sdc/queue/write_cache":       "write back\n",
		"sys/devices/pci/block/sdc/queue/scheduler":         "none\n",
		"sys/devices/pci/block/sdd/ro":                      "1\n",
		"sys/devices/virtual/block/dm-0/slaves/sda2":        "-> ../../../../pci/block/sda/sda2",
		"sys/devices/virtual/block/dm-1/slaves/dm-0":        "-> ../../dm-0",
		"sys/devices/virtual/block/md0/slaves/sdb":          "-> ../../../../pci/block/sdb",
		"sys/devices/virtual/block/md0/slaves/sdc":          "-> ../../../../pci/block/sdc",
		"sys/devices/virtual/block/loop0/loop/backing_file": "/mirror/image\n",
		"sys/devices/virtual/block/loop1/loop/backing_file": "/mirror/gone (deleted)\n",
		"sys/devices/virtual/block/loop2/loop/backing_file": "/dev/sdd\n",
		"sys/devices/virtual/block/zd0/size":                "1\n",
		"sys/devices/virtual/block/zd16/size":               "1\n",
		"sys/devices/virtual/block/zd32/size":               "1\n",
		"sys/devices/virtual/block/zd48/size":               "1\n",
		"sys/devices/virtual/block/zram0/size":              "1\n",
		"proc/self/mountinfo":                               mountTable,
		"proc/swaps":                                        "Filename Type Size Used Priority\n/dev/sda1 partition 1048572 0 -2\n",
		"proc/77/comm":                                      "qemu-system-x86\n",
		"proc/77/fd/3":                                      "-> /dev/sdd",
		"proc/77/fd/4":                                      "-> /dev/sdd",
		"proc/self-is-no-process/fd/3":                      "-> /dev/sdd",
	}
	nodes := map[string]number{
		"/dev/sda": {8, 0, true}, "/dev/sda1": {8, 1, true}, "/dev/sda2": {8, 2, true}, "/dev/sdb": {8, 16, true},
		"/dev/sdc": {8, 32, true}, "/dev/sdd": {8, 48, true}, "/dev/md0": {9, 0, true}, "/dev/mapper/vg-lv": {253, 1, true},
		"/dev/loop0": {7, 0, true}, "/dev/loop1": {7, 1, true}, "/dev/zd0": {230, 0, true}, "/dev/zram0": {252, 0, true},
		"/dev/nbd9": {43, 9, true},
		"/dev/zd16": {230, 16, true}, "/dev/zd32": {230, 32, true}, "/dev/zd48": {230, 48, true},
		"/torn/x": {0, 40, false}, "/dead/x": {0, 41, false},
		"/root-file": {8, 1, false}, "/twice/x": {7, 2, false}, "/mirror/image": {9, 0, false}, "/lv/file": {253, 1, false},
		"/ram/x": {0, 30, false}, "/btrfs/x": {0, 31, false}, "/share/x": {0, 32, false}, "/tank/x": {0, 33, false},
		"/merged/x": {0, 34, false}, "/sshfs/x": {0, 35, false}, "/odd/x": {0, 36, false},
	}
	return files, nodes
}

const mountTable = `20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw,discard
21 20 9:0 / /mirror rw - xfs /dev/md0 rw
22 20 253:1 / /lv rw - ext4 /dev/mapper/vg-lv rw
23 20 0:30 / /ram rw - tmpfs tmpfs rw,size=1g
24 20 0:31 / /btrfs rw - btrfs /dev/sdb rw,space_cache=v2
25 20 0:32 / /share rw - nfs4 server:/export rw
26 20 0:33 / /tank rw - zfs tank rw
27 20 0:34 / /merged rw - overlay overlay rw
28 20 0:35 / /sshfs rw - fuse.sshfs me@there: rw
29 20 0:36 / /odd rw - oddfs none rw
30 20 0:37 / /covered ro - tmpfs first ro
31 30 0:38 / /covered rw - tmpfs second rw
32 20 0:40 / /torn rw - zfs torn/data rw
33 20 0:41 / /dead rw - zfs dead rw
34 20 7:2 / /twice rw - ext4 /dev/loop2 rw,data=journal
`
