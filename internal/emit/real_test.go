package emit

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/qemu/caps"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/qemu/qmp"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/vm/vmtest"
)

// TestRealQEMU starts a real QEMU from the arguments that are emitted, without letting its CPUs run, and asks it what it has.
func TestRealQEMU(t *testing.T) {
	path := vmtest.QEMU(t)
	if _, err := exec.LookPath("qemu-img"); err != nil {
		t.Skip(err)
	}
	can, err := caps.Probe(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for device, s := range map[string]spec.Stack{
		"virtio-blk-pci": {Bus: "virtio-blk", Cache: "none", AIO: "io_uring", IOThread: true, Discard: "unmap", DetectZeroes: "unmap"},
		"scsi-hd":        {Bus: "virtio-scsi-single", Cache: "directsync", AIO: "native", IOThread: true, Queues: 2},
		"ide-hd":         {Bus: "ide", Cache: "writethrough", AIO: "threads", DetectZeroes: "on"},
		"nvme":           {Bus: "nvme", Cache: "unsafe", AIO: "threads", Format: "qcow2", ClusterSize: 128 << 10, L2CacheSize: 1 << 20, LazyRefcounts: true},
	} {
		t.Run(s.Bus, func(t *testing.T) {
			s.Name = s.Bus
			e := experiment(s)
			s = e.Stacks[0]
			if reason, _ := can.Supports(s); reason != "" {
				t.Skip(reason)
			}
			dir := vmtest.Dir(t)
			o := usual()
			o.Accel, o.Path, o.Guest, o.Size = "tcg", filepath.Join(dir, "vm's disk"), e.GuestOf(s), 64<<20
			c, err := Make(QEMU, s, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, command := range c.Commands {
				if out, err := exec.CommandContext(t.Context(), "sh", "-c", command).CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", command, err, out)
				}
			}
			m, pid := start(t, path, dir, c)
			checkReal(t, m, s, device)
			aio, err := proc.AsyncIO(pid)
			if err != nil {
				t.Fatal(err)
			}
			if why := aio.Contradicts(s.AIO); why != "" {
				t.Errorf("aio %s: %s", s.AIO, why)
			}
		})
	}
}

// start gives the emitted command line to a shell, as somebody who pastes it does, with a monitor beside it.
func start(t *testing.T, path, dir string, c Config) (*qmp.Client, int) {
	t.Helper()
	socket := filepath.Join(dir, "qmp")
	text, _ := c.Commented()
	text = strings.TrimSuffix(strings.Replace(text, c.Args[0], path, 1), "\n") + " -S -qmp unix:" + socket + ",server=on,wait=off\n"
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	text = strings.Replace(text, path+" ", "exec "+path+" ", 1)
	q := exec.Command("sh", "-c", text)
	var said bytes.Buffer
	q.Stdout, q.Stderr = &said, &said
	if err := q.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = q.Wait(); cancel(); close(ended) }()
	t.Cleanup(func() { _ = q.Process.Kill(); <-ended })
	m, err := qmp.Dial(ctx, socket)
	if err != nil {
		_ = q.Process.Kill()
		<-ended
		t.Fatalf("%v\n%s\n%s", err, text, said.String())
	}
	t.Cleanup(func() { m.Close() })
	return m, q.Process.Pid
}

// checkReal compares what QEMU has with the stack; the modes are written here once more, from QEMU's manual.
func checkReal(t *testing.T, m *qmp.Client, s spec.Stack, device string) {
	t.Helper()
	disks, err := m.Block(t.Context())
	if err != nil || len(disks) != 1 || disks[0].Inserted == nil {
		t.Fatalf("disks %+v, %v", disks, err)
	}
	if want := s.Cache != "writethrough" && s.Cache != "directsync"; disks[0].Inserted.Cache.Writeback != want {
		t.Errorf("write cache %v, want %v", !want, want)
	}
	nodes, err := m.NamedBlockNodes(t.Context())
	if err != nil || len(nodes) != 2 {
		t.Fatalf("nodes %+v, %v", nodes, err)
	}
	for _, n := range nodes {
		want := qmp.Cache{Writeback: true, Direct: s.Cache == "none" || s.Cache == "directsync", NoFlush: s.Cache == "unsafe"}
		if n.Cache != want {
			t.Errorf("node %s: %+v, want %+v", n.NodeName, n.Cache, want)
		}
		if strings.HasSuffix(n.NodeName, "-top") && n.DetectZeroes != s.DetectZeroes {
			t.Errorf("detect-zeroes %s, want %s", n.DetectZeroes, s.DetectZeroes)
		}
	}
	var devices []struct{ Name, Type string }
	if err := m.Call(t.Context(), "qom-list", map[string]string{"path": "/machine/peripheral"}, &devices); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(devices, func(d struct{ Name, Type string }) bool { return d.Name == serial && d.Type == "child<"+device+">" }) {
		t.Errorf("no %s is %s: %+v", serial, device, devices)
	}
	threads, err := m.IOThreads(t.Context())
	if err != nil || (len(threads) == 1) != s.IOThread {
		t.Errorf("iothreads %+v, %v; want %v", threads, err, s.IOThread)
	}
}
