package qemuargs_test

import (
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/qemuargs"
)

// A machine is changed as a part of its text, though nothing else of that may be read again.
func TestChangeInPlace(t *testing.T) {
	const a, b = q + "-drive file=a,if=virtio", q + "-drive file=b,if=virtio"
	none := func(disk string) vmconf.Change {
		return vmconf.Change{Disk: disk, Setting: vmconf.SetCache, Value: "none"}
	}
	for name, tt := range map[string]struct {
		before, command, after string
		change                 vmconf.Change
		want                   string // the command, or a part of the fault
		part                   bool   // nothing else is read again
	}{
		"between others":   {a + "\n", b, " & # b\n" + a + "\n", none("virtio0"), b + ",cache=none", true},
		"the last line":    {a + "\n" + a + "\n", b, "", none("virtio0"), b + ",cache=none", true},
		"one line for two": {a + "; ", b, "\n" + a + "\n", none("virtio0"), b + ",cache=none", false},
		"a variable": {
			"O=cache=unsafe\n" + a + "\n", b + ",$O", "\n", none("virtio0"), b + ",$O,cache=none", false,
		},
		"what a later line sets": {
			a + ",$O\n", b + ",$O", "\nO=cache=unsafe\n", none("virtio0"), b + ",$O,cache=none", false,
		},
		"several lines": {
			a + "\r\n\r\n", q + "\\\r\n  -S \\\r\n  -drive file=b,if=virtio", "\r\n" + a,
			vmconf.Change{Setting: vmconf.SetBalloon, Value: "on"},
			q + "\\\r\n  -S \\\r\n  -drive file=b,if=virtio \\\r\n  -device virtio-balloon-pci", true,
		},
		"a line in the fault": {
			a + "\n\n\n", q + "-drive if=virtio,file=b,format=raw -device virtio-blk-pci,drive=x,iothread-vq-mapping.0.iothread=t", "\n",
			vmconf.Change{Disk: "x", Setting: vmconf.SetIOThread, Value: "off"},
			"f: iothread of x cannot be set to \"off\": the iothread-vq-mapping of line 4 must be taken out by hand", true,
		},
		"the version of a log": {
			"2024-01-01 00:00:00.000+0000: starting up libvirt version: 10.0.0, qemu version: 8.2.2, kernel: 6\n" + a + "\n" +
				"2024-01-02 00:00:00.000+0000: starting up libvirt version: 10.0.0, qemu version: 2.12.0, kernel: 6\n",
			b, "\n",
			vmconf.Change{Disk: "virtio0", Setting: vmconf.SetQueues, Value: "2"},
			q + "-drive file=b,if=none,id=virtio0 -device virtio-blk-pci,drive=virtio0,num-queues=2", true,
		},
		"a batch file": {
			a + " ^\n -S\n", b, "\n",
			vmconf.Change{Disk: "virtio0", Setting: vmconf.SetSource, Value: "c:d"},
			q + "-drive file=c:d,if=virtio", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := tt.before + tt.command + tt.after
			doc := parse(t, "f", []byte(text))
			vm := strings.Count(tt.before, q)
			if part := doc.Extent(vm) < len(text); part != tt.part {
				t.Errorf("%d of %d bytes are read again", doc.Extent(vm), len(text))
			}
			got, err := doc.Change(vm, []vmconf.Change{tt.change})
			if err != nil {
				if err.Error() != tt.want {
					t.Errorf("got  %v\nwant %s", err, tt.want)
				}
				return
			}
			if want := tt.before + tt.want + tt.after; string(got) != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if again, err := qemuargs.Parse("f", got); err != nil || len(again.VMs()) != len(doc.VMs()) {
				t.Error(err)
			}
		})
	}
}
