package cmdline_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/spec"
)

func good() cmdline.Config {
	return cmdline.Config{
		Binary: "q", Accel: "tcg", Machine: "q35", CPUs: 2, Memory: 256 << 20,
		Disks: []cmdline.Disk{{
			Stack:  spec.Stack{Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "native"},
			Serial: "d0", Path: "/d0",
		}},
	}
}

func TestFaults(t *testing.T) {
	tests := []struct {
		name   string
		change func(*cmdline.Config)
		want   []string // one per fault
	}{
		{
			"everything empty", func(c *cmdline.Config) { *c = cmdline.Config{} },
			[]string{"no QEMU binary", `accelerator ""`, `machine ""`, "0 CPUs", "memory of 0 bytes"},
		},
		{"memory", func(c *cmdline.Config) { c.Memory++ }, []string{"whole MiB"}},
		{"append alone", func(c *cmdline.Config) { c.Append = "quiet" }, []string{"without a kernel"}},
		{"two consoles", func(c *cmdline.Config) { c.ConsoleFile, c.ConsoleSocket = "a", "b" }, []string{"either to a file or to a socket"}},
		{"long socket", func(c *cmdline.Config) { c.AgentSocket = strings.Repeat("s", 108) }, []string{"108 bytes, at most 107 fit"}},
		{"bad words", func(c *cmdline.Config) {
			c.Disks[0].Stack = spec.Stack{Format: "vmdk", Bus: "floppy", Cache: "default", AIO: "posix", Discard: "on", DetectZeroes: "maybe"}
		}, []string{`format "vmdk"`, `bus "floppy"`, `cache "default"`, `aio "posix"`, `discard "on"`, `detect_zeroes "maybe"`}},
		{
			"native buffered", func(c *cmdline.Config) { c.Disks[0].Stack.Cache = "writeback" },
			[]string{"disk d0: aio native needs cache none or directsync, not writeback"},
		},
		{"detect-zeroes unmap alone", func(c *cmdline.Config) { c.Disks[0].Stack.DetectZeroes = "unmap" }, []string{"needs discard unmap"}},
		{"what sata has not", func(c *cmdline.Config) {
			s := &c.Disks[0].Stack
			s.Bus, s.IOThread, s.Queues, s.QueueSize = "sata", true, 2, 64
		}, []string{"no iothread", "no choice of queues", "no choice of queue size"}},
		{"what sata does not map", func(c *cmdline.Config) {
			c.Disks[0].Stack.Bus, c.Disks[0].Stack.VQMapping = "sata", 2
		}, []string{"bus sata has no mapping of queues"}},
		{"iothread and mapping", func(c *cmdline.Config) {
			c.Disks[0].Stack.IOThread, c.Disks[0].Stack.VQMapping = true, 2
		}, []string{"either one iothread or a mapping to some"}},
		{"image options of a raw file", func(c *cmdline.Config) { c.Disks[0].Stack.LazyRefcounts = true }, []string{"for format qcow2, not raw"}},
		{"base of no overlay", func(c *cmdline.Config) { c.Disks[0].Base = "/base" }, []string{"an overlay, and it alone, has an image below it"}},
		{"overlay over nothing", func(c *cmdline.Config) {
			c.Disks[0].Stack.Format, c.Disks[0].Stack.BackingFile = "qcow2", true
		}, []string{"an overlay, and it alone, has an image below it"}},
		{"backend", func(c *cmdline.Config) { c.Backend = "shm" }, []string{`memory backend "shm": want one of`}},
		{"page size", func(c *cmdline.Config) { c.Pages = 4096 }, []string{"huge pages of 4096 bytes"}},
		{"part of a page", func(c *cmdline.Config) { c.Pages = 1 << 30 }, []string{"want whole huge pages of 1G"}},
		{"ram of huge pages", func(c *cmdline.Config) { c.Pages, c.Backend = 2<<20, "ram" }, []string{"memory backend ram has no huge pages"}},
		{"file nowhere", func(c *cmdline.Config) { c.Backend = "file" }, []string{"no folder to make the file in"}},
		{"ram for a server", func(c *cmdline.Config) {
			c.Backend, c.Disks[0].Stack.Bus, c.Disks[0].Socket = "ram", "vhost-user-blk", "/s"
		}, []string{"memory backend ram cannot be shared"}},
		{"ide on q35", func(c *cmdline.Config) { c.Disks[0].Stack.Bus = "ide" }, []string{"IDE needs machine pc"}},
		{"no device", func(c *cmdline.Config) { c.Disks[0].Stack.Bus = "host" }, []string{"bus host is no device of QEMU's"}},
		{"the guest's own", func(c *cmdline.Config) { c.Disks[0].Stack.Bus, c.Disks[0].Size = "null_blk", 1<<30 }, []string{"bus null_blk is no device of QEMU's"}},
		{"another machine", func(c *cmdline.Config) { c.Disks[0].Stack.Machine = "pc" }, []string{"wants machine pc, this guest is q35"}},
		{"serials", func(c *cmdline.Config) {
			bad, twin := c.Disks[0], c.Disks[0]
			bad.Serial = "0 and far too long for a serial"
			c.Disks = append(c.Disks, twin, bad)
		}, []string{"disk d0: another disk has this serial", "a serial has letters"}},
		{"no path", func(c *cmdline.Config) { c.Disks[0].Path = "" }, []string{"no path"}},
		{"crooked slice", func(c *cmdline.Config) { c.Disks[0].Offset = 100 }, []string{"multiples of 512"}},
		{"null without size", func(c *cmdline.Config) { c.Disks[0].Stack.Format = "null-co" }, []string{"null-co needs a size"}},
		{"five ide disks", func(c *cmdline.Config) {
			c.Machine = "pc"
			c.Disks[0].Stack.Bus = "ide"
			for i := 1; i < 5; i++ {
				d := c.Disks[0]
				d.Serial = fmt.Sprintf("d%d", i)
				c.Disks = append(c.Disks, d)
			}
		}, []string{"disk d4: the IDE controller takes 4 disks"}},
		{"31 slots", func(c *cmdline.Config) { c.Disks = nullDisks(31) }, []string{"31 PCI devices in one guest, at most 30 fit"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := good()
			tt.change(&c)
			_, err := cmdline.Args(c)
			var faults errkind.List
			if !errors.As(err, &faults) {
				t.Fatalf("err = %v, want a list of faults", err)
			}
			if len(faults) != len(tt.want) {
				t.Fatalf("%d faults, want %d:\n%v", len(faults), len(tt.want), err)
			}
			for i, want := range tt.want {
				if !strings.Contains(faults[i].Error(), want) {
					t.Errorf("fault %d is %q, want %q in it", i, faults[i], want)
				}
			}
			if errkind.CodeOf(err) != errkind.Usage {
				t.Errorf("exit code %d, want %d", errkind.CodeOf(err), errkind.Usage)
			}
		})
	}
}

func nullDisks(n int) []cmdline.Disk {
	var disks []cmdline.Disk
	for i := range n {
		s := spec.Stack{Format: "null-co", Bus: "virtio-blk", Cache: "none"}
		disks = append(disks, cmdline.Disk{Stack: s, Serial: fmt.Sprintf("d%d", i), Size: 1 << 20})
	}
	return disks
}

func TestIOThreads(t *testing.T) {
	for name, want := range map[string]int{"boot": 1, "buses": 3, "ide": 0, "null": 2, "mapping": 7} {
		args, err := cmdline.Args(machines("/vm")[name])
		if err != nil {
			t.Fatal(err)
		}
		if got := cmdline.IOThreads(args); got != want {
			t.Errorf("%s: %d iothreads, want %d", name, got, want)
		}
	}
}

func TestNeeds(t *testing.T) {
	tests := map[string]struct {
		stack spec.Stack
		want  cmdline.Need
	}{
		"virtio-blk": {
			spec.Stack{Format: "qcow2", Bus: "virtio-blk", Cache: "none", AIO: "io_uring", IOThread: true, QueueSize: 64},
			cmdline.Need{Drivers: []string{"file", "raw", "qcow2"}, AIO: "io_uring", Devices: map[string][]string{
				"virtio-blk-pci": {"iothread", "queue-size", "drive", "serial", "write-cache"},
			}},
		},
		"ide": {
			spec.Stack{Format: "raw", Bus: "ide", Cache: "none", AIO: "threads"},
			cmdline.Need{Machine: "pc", Drivers: []string{"file", "raw"}, AIO: "threads", Devices: map[string][]string{
				"ide-hd": {"unit", "drive", "serial", "write-cache"},
			}},
		},
		"overlay": {
			spec.Stack{Format: "qcow2", BackingFile: true, Bus: "nvme", Cache: "none", AIO: "native"},
			cmdline.Need{Drivers: []string{"file", "raw", "file", "qcow2", "qcow2"}, AIO: "native", Devices: map[string][]string{"nvme": {"drive", "serial", "write-cache"}}},
		},
		"mapping": {
			spec.Stack{Format: "null-co", Bus: "virtio-scsi", Cache: "none", VQMapping: 2, Queues: 2},
			cmdline.Need{Drivers: []string{"null-co"}, Devices: map[string][]string{
				"virtio-scsi-pci": {"iothread-vq-mapping", "num_queues"}, "scsi-hd": {"drive", "serial", "write-cache"},
			}},
		},
		"controller without properties": {
			spec.Stack{Format: "null-co", Bus: "pvscsi", Cache: "none", Machine: "q35"},
			cmdline.Need{Machine: "q35", Drivers: []string{"null-co"}, Devices: map[string][]string{
				"pvscsi": {}, "scsi-hd": {"drive", "serial", "write-cache"},
			}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := cmdline.Needs(tt.stack)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Needs (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := cmdline.Needs(spec.Stack{}); err == nil {
		t.Error("an empty stack has needs")
	}
}
