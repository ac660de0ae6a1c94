package qmp

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// startQEMU runs a QEMU without a machine whose monitor is at the returned socket, until the end of the test.
// IOTAX_QEMU names another QEMU to test with.
func startQEMU(t *testing.T) string {
	t.Helper()
	binary, err := exec.LookPath(cmp.Or(os.Getenv("IOTAX_QEMU"), "qemu-system-x86_64"))
	if err != nil {
		t.Skip(err)
	}
	socket := filepath.Join(t.TempDir(), "qmp")
	q := exec.Command(binary, "-M", "none", "-nodefaults", "-no-user-config", "-display", "none", "-S",
		"-object", "iothread,id=io0", "-blockdev", "driver=null-co,node-name=n,size=4096,cache.direct=on",
		"-qmp", "unix:"+socket+",server=on,wait=off")
	q.Stderr = t.Output()
	if err := q.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Process.Kill(); _ = q.Wait() })
	return socket
}

func TestRealQEMU(t *testing.T) {
	socket := startQEMU(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c, err := Dial(ctx, socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if v, err := c.Version(ctx); err != nil || v != c.Greeting() || v.Major == 0 {
		t.Errorf("Version = %+v, %v; greeting %+v", v, err, c.Greeting())
	}
	if s, err := c.Status(ctx); err != nil || s != (Status{false, "prelaunch"}) {
		t.Errorf("Status = %+v, %v", s, err)
	}
	if cpus, err := c.CPUs(ctx); err != nil || len(cpus) != 0 {
		t.Errorf("CPUs = %+v, %v; want none", cpus, err)
	}
	if io, err := c.IOThreads(ctx); err != nil || len(io) != 1 || io[0].ID != "io0" || io[0].ThreadID == 0 {
		t.Errorf("IOThreads = %+v, %v", io, err)
	}
	nodes, err := c.NamedBlockNodes(ctx)
	if err != nil || len(nodes) != 1 || nodes[0].NodeName != "n" || nodes[0].Cache != (Cache{Writeback: true, Direct: true}) {
		t.Errorf("NamedBlockNodes = %+v, %v", nodes, err)
	}
	if disks, err := c.Block(ctx); err != nil || len(disks) != 0 {
		t.Errorf("Block = %+v, %v; want none", disks, err)
	}
	if s, err := c.Schema(ctx); err != nil || len(s) < 100_000 {
		t.Errorf("Schema: %d bytes, %v", len(s), err)
	}
	if types, err := c.Types(ctx, "accel"); err != nil || len(types) == 0 {
		t.Errorf("Types = %v, %v", types, err)
	}
	if p, err := c.DeviceProperties(ctx, "virtio-blk-pci"); err != nil || len(p) < 20 {
		t.Errorf("DeviceProperties: %d, %v", len(p), err)
	}
	var refused *Error
	if _, err := c.DeviceProperties(ctx, "no-such-device"); !errors.As(err, &refused) || refused.Class != "DeviceNotFound" {
		t.Errorf("unknown device: %v", err)
	}
	if err := c.Quit(ctx); err != nil {
		t.Error(err)
	}
	<-c.Done()
	if _, err := c.Status(ctx); !errors.Is(err, ErrClosed) {
		t.Errorf("after quit: %v", err)
	}
}

func TestDialWaits(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "late")
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := Dial(ctx, socket); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("nobody there: %v", err)
	}
	dialled := make(chan error, 1)
	go func() {
		conn, err := DialSocket(t.Context(), socket)
		if err == nil {
			conn.Close()
		}
		dialled <- err
	}()
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := <-dialled; err != nil {
		t.Error(err)
	}
	if _, err := Dial(t.Context(), filepath.Join(t.TempDir(), string(make([]byte, 200)))); err == nil {
		t.Error("a path that no socket can have was accepted")
	}
}
