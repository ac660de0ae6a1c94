package qsd_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/qsd"
	"github.com/iotax/iotax/internal/spec"
)

// configs are the daemons of the golden files, by file name. Every path lies in dir.
func configs(dir string) map[string]qsd.Config {
	with := func(s spec.Stack, change func(*cmdline.Disk)) qsd.Config {
		d := cmdline.Disk{Stack: s, Serial: "disk0", Path: filepath.Join(dir, "disk.img"), Socket: filepath.Join(dir, "disk0,socket")}
		change(&d)
		return qsd.Config{Binary: "qemu-storage-daemon", Disk: d, CPUs: 2, QMPSocket: filepath.Join(dir, "qmp,socket")}
	}
	same := func(*cmdline.Disk) {}
	sliced := func(d *cmdline.Disk) { d.Offset, d.Size = 1<<20, 1<<20 }
	everything := vhostUser("directsync", "native")
	everything.Format, everything.IOThread, everything.Queues, everything.QueueSize = "qcow2", true, 1, 256
	everything.Discard, everything.DetectZeroes, everything.Daemon = "unmap", "unmap", "qemu-storage-daemon"
	iothread := overNBD("directsync", "io_uring")
	iothread.IOThread = true
	qcow2 := overNBD("unsafe", "threads")
	qcow2.Format = "qcow2"
	onHost := overNBD("writethrough", "threads")
	onHost.Bus = "host"
	null := spec.Stack{Format: "null-co", Bus: "vhost-user-blk", Cache: "none"}
	return map[string]qsd.Config{
		"vhost-user":       with(vhostUser("none", "io_uring"), same),
		"vhost-user-qcow2": with(everything, same),
		"vhost-user-slice": with(vhostUser("writeback", "threads"), sliced),
		"vhost-user-null":  with(null, sliced),
		"nbd":              with(iothread, same),
		"nbd-host":         with(onHost, same),
		"nbd-qcow2-slice":  with(qcow2, sliced),
		"nbd-device":       with(overNBD("none", "native"), func(d *cmdline.Disk) { d.Block, d.Path = true, "/dev/vg/lv" }),
	}
}

func TestGolden(t *testing.T) {
	for name, c := range configs("/vm") {
		args, err := qsd.Args(c)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		golden.Equal(t, "testdata/"+name+".args", strings.Join(args, "\n")+"\n")
	}
}

func TestFaults(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*qsd.Config)
		want   []string
	}{
		"another's stack": {func(c *qsd.Config) { c.Disk.Stack.Daemon = "spdk" }, []string{`served by "spdk", not by qemu-storage-daemon`}},
		"QEMU's own":      {func(c *qsd.Config) { c.Disk.Stack.Bus = "nvme" }, []string{`served by "", not by`}},
		"all at once": {
			func(c *qsd.Config) { c.CPUs, c.Disk.Socket, c.Disk.Path = 0, "", "" },
			[]string{"a guest of 0 CPUs", "no path", "no socket"},
		},
		"no client's socket": {
			func(c *qsd.Config) {
				c.Disk.Stack = spec.Stack{Format: "raw", Bus: "host", Protocol: "nbd", Cache: "none", AIO: "threads"}
				c.Disk.Socket = ""
			},
			[]string{"socket path of 0 bytes"},
		},
		"long monitor": {func(c *qsd.Config) { c.QMPSocket = strings.Repeat("q", 108) }, []string{"108 bytes, at most 107 fit"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := configs("/vm")["vhost-user"]
			tt.change(&c)
			_, err := qsd.Args(c)
			var faults errkind.List
			if !errors.As(err, &faults) || errkind.CodeOf(err) != errkind.Usage {
				t.Fatalf("err = %v, want a list of faults", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q has no %q", err, want)
				}
			}
		})
	}
}
