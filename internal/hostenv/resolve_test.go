package hostenv

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/record"
)

func TestResolve(t *testing.T) {
	h := exampleHost(t)
	tests := []struct {
		path    string
		devices []string
		layers  []string
		reason  string // a part of it
	}{
		{"/dev/sda", []string{"sda"}, nil, ""},
		{"/dev/sda1", []string{"sda"}, []string{"sda1"}, ""},
		{"/root-file", []string{"sda"}, []string{"ext4", "sda1"}, ""},
		{"/twice/x", []string{"sdd"}, []string{"ext4 data=journal", "loop2"}, ""},
		{"/dev/mapper/vg-lv", []string{"sda"}, []string{"dm-1", "dm-0", "sda2"}, ""},
		{"/lv/file", []string{"sda"}, []string{"ext4", "dm-1", "dm-0", "sda2"}, ""},
		{"/dev/md0", []string{"sdb", "sdc"}, []string{"md0"}, ""},
		{"/dev/loop0", []string{"sdb", "sdc"}, []string{"loop0", "xfs", "md0"}, ""},
		{"/dev/loop1", nil, nil, "was removed"},
		{"/dev/zd0", []string{"sda", "sdb", "sdc"}, []string{"zd0", "tank", "sda1", "loop0", "xfs", "md0"}, ""},
		{"/dev/zd16", []string{"sda", "sdb", "sdc"}, []string{"zd16", "inner", "zfs", "tank", "sda1", "loop0", "xfs", "md0"}, ""},
		{"/dev/zd48", nil, []string{"zd48"}, "the zvol behind zd48 cannot be told"},
		{"/dev/zram0", nil, nil, "memory"},
		{"/dev/nbd9", nil, nil, "no block device 43:9"},
		{"/ram/x", nil, []string{"tmpfs"}, "memory"},
		{"/btrfs/x", nil, []string{"btrfs"}, "btrfs spreads"},
		{"/share/x", nil, []string{"nfs4"}, "another machine"},
		{"/tank/x", []string{"sda", "sdb", "sdc"}, []string{"zfs", "tank", "sda1", "loop0", "xfs", "md0"}, ""},
		{"/torn/x", nil, []string{"zfs", "torn", "sda1"}, "stat /dev/gone"},
		{"/dead/x", nil, []string{"zfs", "dead"}, "the disks of the ZFS pool dead cannot be told: zpool list: exit status 1"},
		{"/merged/x", nil, []string{"overlay"}, "folder of the one below"},
		{"/sshfs/x", nil, []string{"fuse.sshfs"}, "fuse.sshfs is served by a program"},
		{"/odd/x", nil, []string{"oddfs"}, "oddfs names no block device"},
	}
	for _, tt := range tests {
		got, err := h.Resolve(tt.path)
		if err != nil {
			t.Errorf("%s: %v", tt.path, err)
			continue
		}
		if diff := cmp.Diff(tt.devices, got.Devices); diff != "" {
			t.Errorf("%s: devices %s", tt.path, diff)
		}
		if diff := cmp.Diff(tt.layers, got.Layers); diff != "" {
			t.Errorf("%s: layers %s", tt.path, diff)
		}
		if !strings.Contains(got.Reason, tt.reason) || (got.Reason == "") != (tt.reason == "") {
			t.Errorf("%s: reason %q, want %q", tt.path, got.Reason, tt.reason)
		}
	}
	if _, err := h.Resolve("/nowhere"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a path that does not exist: %v", err)
	}
}

func TestResolveGivesUpOnEndlessLayers(t *testing.T) {
	h := tree(t, map[string]string{
		"sys/dev/block/253:0":                        "-> ../../devices/virtual/block/dm-0",
		"sys/devices/virtual/block/dm-0/slaves/dm-0": "-> ../../dm-0",
	}, map[string]number{"/dev/dm-0": {253, 0, true}})
	for path, h := range map[string]Host{"/dev/dm-0": h, "/dev/zd32": exampleHost(t)} {
		got, err := h.Resolve(path)
		if err != nil || !strings.Contains(got.Reason, "layers") {
			t.Errorf("%s: %+v, %v", path, got, err)
		}
	}
}

func TestDevice(t *testing.T) {
	h := exampleHost(t)
	for _, tt := range []struct {
		in   Storage
		want record.Device
	}{
		{Storage{Devices: []string{"sda"}}, record.Device{
			Name: "sda", Model: "Samsung SSD 870", WriteCache: "write back", Scheduler: "mq-deadline",
		}},
		{Storage{Devices: []string{"sdb", "sdc"}}, record.Device{
			Name: "sdb+sdc", Model: "WDC WD40EFRX+virtio disk", Rotational: true, WriteCache: "write back", Scheduler: "bfq+none",
		}},
		{Storage{Reason: "why"}, record.Device{Reason: "why"}},
	} {
		if diff := cmp.Diff(tt.want, h.Device(tt.in)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestFilesystem(t *testing.T) {
	h := exampleHost(t)
	for path, want := range map[string]Filesystem{
		"/some/where":     {"ext4", "/", "/dev/sda1", "rw,relatime,rw,discard"},
		"/mirror/a/b":     {"xfs", "/mirror", "/dev/md0", "rw,rw"},
		"/mirrored":       {"ext4", "/", "/dev/sda1", "rw,relatime,rw,discard"},
		"/covered/by/two": {"tmpfs", "/covered", "second", "rw,rw"},
	} {
		got, err := h.Filesystem(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}
