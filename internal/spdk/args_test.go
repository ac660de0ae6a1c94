package spdk_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/spdk"
	"github.com/iotax/iotax/internal/spec"
)

func TestArgs(t *testing.T) {
	got, err := spdk.Args(spdk.Config{Binary: "/opt/spdk_tgt", RPCSocket: "/run/x/rpc", VhostDir: "/run/x", CPUs: []int{1, 3}})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields("/opt/spdk_tgt -r /run/x/rpc -S /run/x -m [1,3] -s 1024 -u -R")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Args (-want +got):\n%s", diff)
	}
	_, err = spdk.Args(spdk.Config{RPCSocket: strings.Repeat("r", 108)})
	var faults errkind.List
	if !errors.As(err, &faults) || len(faults) != 4 {
		t.Errorf("Args of nothing = %v, want 4 faults", err)
	}
}

func TestRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*spec.Stack)
		reason string
	}{
		"blk":            {func(*spec.Stack) {}, ""},
		"scsi":           {func(s *spec.Stack) { s.Bus, s.Daemon, s.AIO = "vhost-user-scsi", "", "io_uring" }, ""},
		"spelt out":      {func(s *spec.Stack) { s.Discard, s.DetectZeroes = "ignore", "off" }, ""},
		"null":           {func(s *spec.Stack) { s.Format, s.AIO, s.Cache = "null-co", "", "writeback" }, ""},
		"another's":      {func(s *spec.Stack) { s.Daemon = "qemu-storage-daemon" }, "vhost-user-blk or vhost-user-scsi only"},
		"nbd":            {func(s *spec.Stack) { s.Bus, s.Protocol = "virtio-blk", "nbd" }, "vhost-user-blk or vhost-user-scsi only"},
		"image":          {func(s *spec.Stack) { s.Format = "qcow2" }, "no qcow2 images"},
		"cache":          {func(s *spec.Stack) { s.Cache = "directsync" }, "with O_DIRECT, which is cache none"},
		"aio":            {func(s *spec.Stack) { s.AIO = "threads" }, "no aio=threads"},
		"iothread":       {func(s *spec.Stack) { s.IOThread = true }, "no iothreads"},
		"discard":        {func(s *spec.Stack) { s.Discard = "unmap" }, "no choice of discard"},
		"detect zeroes":  {func(s *spec.Stack) { s.DetectZeroes = "on" }, "does not detect zeros"},
		"QEMU's own bus": {func(s *spec.Stack) { s.Bus, s.Daemon = "nvme", "" }, "only"},
	} {
		t.Run(name, func(t *testing.T) {
			s := stack("vhost-user-blk", "native")
			tt.change(&s)
			reason, mend := spdk.Refuses(s)
			if !strings.Contains(reason, tt.reason) || (reason == "") != (tt.reason == "") || (mend == "") != (reason == "") {
				t.Errorf("Refuses = %q, %q; want %q", reason, mend, tt.reason)
			}
		})
	}
}
