package cmdline_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/qemu/caps"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/qmp"
	"github.com/iotax/iotax/internal/spec"
)

// TestRealQEMU gives every guest of the golden files to a real QEMU, without letting its CPUs run, and compares
// what QEMU says it has made with what was asked for. IOTAX_QEMU names another QEMU.
func TestRealQEMU(t *testing.T) {
	path, err := exec.LookPath(cmp.Or(os.Getenv("IOTAX_QEMU"), "qemu-system-x86_64"))
	if err != nil {
		t.Skip(err)
	}
	can, err := caps.Probe(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for name := range machines("") {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c := machines(dir)[name]
			c.Binary, c.Paused = path, true
			if c.Accel == "kvm" {
				t.Skip("needs a working KVM")
			}
			for i := range c.Disks {
				if reason, _ := can.Supports(c.Disks[i].Stack); reason != "" {
					t.Skip(reason)
				}
				makeVolume(t, &c.Disks[i])
			}
			if c.Pages != 0 {
				t.Skip("needs huge pages: package rig tests it where it can reserve some")
			}
			makeFile(t, c.Kernel, kernel())
			makeFile(t, c.Initrd, make([]byte, 4096))
			makeFile(t, c.Bios, make([]byte, 64<<10))
			check(t, c, run(t, c))
		})
	}
}

// TestMostDisks holds the limit of PCI slots to be no higher than what QEMU takes, on both machines.
func TestMostDisks(t *testing.T) {
	path, err := exec.LookPath(cmp.Or(os.Getenv("IOTAX_QEMU"), "qemu-system-x86_64"))
	if err != nil {
		t.Skip(err)
	}
	for _, machine := range spec.Machines {
		t.Run(machine, func(t *testing.T) {
			dir := t.TempDir()
			c := good()
			c.Binary, c.Machine, c.Paused = path, machine, true
			c.QMPSocket, c.AgentSocket = filepath.Join(dir, "qmp"), filepath.Join(dir, "agent")
			c.Disks = nullDisks(29) // and the agent's port makes 30
			check(t, c, run(t, c))
		})
	}
}

// run starts the guest until the end of the test.
func run(t *testing.T, c cmdline.Config) *qmp.Client {
	t.Helper()
	args, err := cmdline.Args(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	var stderr bytes.Buffer
	q := exec.Command(args[0], args[1:]...)
	q.Stderr = &stderr
	if err := q.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = q.Wait(); cancel(); close(ended) }()
	t.Cleanup(func() { _ = q.Process.Kill(); <-ended })
	m, err := qmp.Dial(ctx, c.QMPSocket)
	if err != nil {
		_ = q.Process.Kill()
		<-ended
		t.Fatalf("%v\n%s\n%s", err, strings.Join(args, " "), stderr.String())
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func check(t *testing.T, c cmdline.Config, m *qmp.Client) {
	t.Helper()
	args, err := cmdline.Args(c)
	if err != nil {
		t.Fatal(err)
	}
	threads, err := m.IOThreads(t.Context())
	if err != nil || len(threads) != cmdline.IOThreads(args) {
		t.Errorf("iothreads %+v, %v; want %d", threads, err, cmdline.IOThreads(args))
	}
	if cpus, err := m.CPUs(t.Context()); err != nil || len(cpus) != c.CPUs {
		t.Errorf("vCPUs %+v, %v; want %d", cpus, err, c.CPUs)
	}
	for _, socket := range []string{c.AgentSocket, c.ConsoleSocket} {
		if socket == "" {
			continue
		}
		if conn, err := net.Dial("unix", socket); err != nil {
			t.Error(err)
		} else {
			conn.Close()
		}
	}
	list, err := m.NamedBlockNodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	nodes := map[string]qmp.BlockNode{}
	for _, n := range list {
		nodes[n.NodeName] = n
	}
	devices, err := m.Block(t.Context())
	if err != nil || len(devices) != len(c.Disks) {
		t.Errorf("%d disks, %v; want %d", len(devices), err, len(c.Disks))
	}
	writeCache := map[string]bool{}
	for _, d := range devices {
		writeCache[d.Inserted.NodeName] = d.Inserted.Cache.Writeback
	}
	for _, d := range c.Disks {
		checkDisk(t, d, nodes, writeCache)
		var serial string
		if err := m.Property(t.Context(), d.DeviceID(), "serial", &serial); err != nil || serial != d.Serial {
			t.Errorf("%s: serial %q, %v", d.Serial, serial, err)
		}
	}
}

func checkDisk(t *testing.T, d cmdline.Disk, nodes map[string]qmp.BlockNode, writeCache map[string]bool) {
	t.Helper()
	s := d.Stack
	// written here once more, from QEMU's manual, so that an error in the builder's own table shows
	direct := s.Cache == "none" || s.Cache == "directsync"
	cache := qmp.Cache{Writeback: true, Direct: direct, NoFlush: s.Cache == "unsafe"}
	protocol := s.Format
	switch {
	case s.Format == "null-co":
	case d.Block:
		protocol = "host_device"
	default:
		protocol = "file"
	}
	for name, driver := range map[string]string{d.ProtocolNode(): protocol, d.Node(): s.Format} {
		n := nodes[name]
		if n.Driver != driver || n.Cache != cache {
			t.Errorf("node %s of cache %s: %+v, want driver %s, cache %+v", name, s.Cache, n, driver, cache)
		}
	}
	if got := nodes[d.Node()].DetectZeroes; got != cmp.Or(s.DetectZeroes, "off") {
		t.Errorf("node %s: detect_zeroes %s, want %q", d.Node(), got, s.DetectZeroes)
	}
	if want := s.Cache != "writethrough" && s.Cache != "directsync"; writeCache[d.Node()] != want {
		t.Errorf("%s with cache %s: write cache %v, want %v", d.Serial, s.Cache, writeCache[d.Node()], want)
	}
}

// makeVolume makes what the disk needs: a file or, when it is to be a block device, a loop device.
func makeVolume(t *testing.T, d *cmdline.Disk) {
	t.Helper()
	if d.Stack.Ceiling() {
		return
	}
	data := make([]byte, 4<<20)
	if d.Stack.Format == "qcow2" {
		copy(data[d.Offset:], emptyQcow2())
	}
	makeFile(t, d.Path, data)
	if d.Base != "" {
		makeFile(t, d.Base, emptyQcow2())
	}
	if f, err := os.OpenFile(d.Path, os.O_RDWR|syscall.O_DIRECT, 0); err != nil {
		t.Skipf("needs O_DIRECT in %s: %v", filepath.Dir(d.Path), err)
	} else {
		f.Close()
	}
	if !d.Block {
		return
	}
	out, err := exec.Command("losetup", "--find", "--show", d.Path).Output()
	if err != nil {
		t.Skipf("needs a loop device: %v", err)
	}
	d.Path = strings.TrimSpace(string(out))
	t.Cleanup(func() {
		if out, err := exec.Command("losetup", "--detach", d.Path).CombinedOutput(); err != nil {
			t.Errorf("losetup --detach %s: %v: %s", d.Path, err, out)
		}
	})
}

func makeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if path == "" {
		return
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// emptyQcow2 is a qcow2 image of 1 MiB without data (docs/interop/qcow2.txt): header, refcount table, refcount
// block and L1 table, one cluster of 64 KiB each.
func emptyQcow2() []byte {
	const cluster = 64 << 10
	b := make([]byte, 4*cluster)
	be := binary.BigEndian
	copy(b, "QFI\xfb")
	be.PutUint32(b[4:], 3)          // version
	be.PutUint32(b[20:], 16)        // cluster_bits
	be.PutUint64(b[24:], 1<<20)     // size
	be.PutUint32(b[36:], 1)         // l1_size
	be.PutUint64(b[40:], 3*cluster) // l1_table_offset
	be.PutUint64(b[48:], cluster)   // refcount_table_offset
	be.PutUint32(b[56:], 1)         // refcount_table_clusters
	be.PutUint32(b[96:], 4)         // refcount_order
	be.PutUint32(b[100:], 104)      // header_length
	be.PutUint64(b[cluster:], 2*cluster)
	for i := range 4 {
		be.PutUint16(b[2*cluster+2*i:], 1)
	}
	return b
}

// kernel is no kernel, only the setup header that makes QEMU load one (Documentation/arch/x86/boot.rst in Linux).
func kernel() []byte {
	b := make([]byte, 16<<10)
	le := binary.LittleEndian
	b[0x1f1] = 4 // setup sectors
	le.PutUint16(b[0x1fe:], 0xaa55)
	copy(b[0x202:], "HdrS")
	le.PutUint16(b[0x206:], 0x020c)     // protocol version
	b[0x211] = 1                        // loaded high
	le.PutUint32(b[0x22c:], 0x37ffffff) // highest address of the initrd
	le.PutUint32(b[0x238:], 2047)       // longest command line
	return b
}

func ExampleDiskArgs() {
	args, err := cmdline.DiskArgs(cmdline.Disk{
		Stack:  spec.Stack{Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "io_uring"},
		Serial: "vol0", Path: "/scratch/vol0.img",
	})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.Join(args, " \\\n"))
	// Output:
	// -blockdev \
	// driver=file,node-name=vol0-file,cache.direct=on,cache.no-flush=off,filename=/scratch/vol0.img,aio=io_uring \
	// -blockdev \
	// driver=raw,node-name=vol0-top,cache.direct=on,cache.no-flush=off,file=vol0-file \
	// -device \
	// virtio-blk-pci,id=vol0,drive=vol0-top,serial=vol0,write-cache=on
}
