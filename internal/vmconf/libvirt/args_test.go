package libvirt_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/libvirt"
)

// frontends are the buses of QEMU's devices with a disk behind them.
var frontends = map[string]string{
	"virtio-blk-pci": vmconf.VirtioBlk, "virtio-blk-ccw": vmconf.VirtioBlk, "virtio-blk-device": vmconf.VirtioBlk,
	"virtio-blk-pci-transitional": vmconf.VirtioBlk, "virtio-blk-pci-non-transitional": vmconf.VirtioBlk,
	"vhost-user-blk-pci": vmconf.VhostUserBlk, "ide-hd": vmconf.IDE, "ide-cd": vmconf.IDE, "usb-storage": vmconf.USB,
	"usb-bot": vmconf.USB, "floppy": vmconf.Floppy, "nvme-ns": vmconf.NVMe,
	"scsi-hd": "scsi", "scsi-cd": "scsi", "scsi-block": "scsi",
}

var quoted = regexp.MustCompile(`^-(device|blockdev) '(.*)' ?\\?$`)

// node is a -blockdev or -device.
type node struct {
	Driver, ID, Bus, Drive, File, Filename, AIO, Discard string
	NodeName                                             string `json:"node-name"`
	DetectZeroes                                         string `json:"detect-zeroes"`
	WriteCache                                           string `json:"write-cache"`
	Cache                                                struct {
		Direct  bool
		NoFlush bool `json:"no-flush"`
	}
	IOThread string
	Mapping  []any `json:"iothread-vq-mapping"`
}

// TestAgainstArguments compares with the command lines that libvirt makes of its own test documents: the frontends, and of
// each disk the cache, aio, discard, detect-zeroes and thread.
func TestAgainstArguments(t *testing.T) {
	compared := 0
	for _, path := range real(t, "libvirt-testsuite/*.args") {
		stem := strings.TrimSuffix(path, ".args")
		name, _, _ := strings.Cut(filepath.Base(stem), ".")
		source := filepath.Join(filepath.Dir(stem), name)
		data, err := os.ReadFile(source + ".xml")
		if err != nil {
			continue
		}
		t.Run(filepath.Base(stem), func(t *testing.T) {
			args, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := libvirt.Parse("x", data)
			if err != nil {
				t.Fatal(err)
			}
			want := emitted(t, string(args))
			if want == nil || strings.Contains(string(data), "<transient shareBacking='yes'/>") {
				t.Skip("no disk on the command line, or one that libvirt plugs in later")
			}
			got := understood(doc.VMs()[0])
			compared += len(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-libvirt +ours\n%s", diff)
			}
		})
	}
	if compared < 100 {
		t.Errorf("only %d disks were compared", compared)
	}
}

// emitted reads the disks off a command line, sorted.
func emitted(t *testing.T, args string) []string {
	t.Helper()
	blockdev := map[string]node{}
	controllers := map[string]node{}
	var devices []node
	for _, line := range strings.Split(args, "\n") {
		m := quoted.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		var n node
		if err := json.Unmarshal([]byte(m[2]), &n); err != nil {
			continue // a -device of another kind
		}
		switch {
		case m[1] == "blockdev":
			blockdev[n.NodeName] = n
		case frontends[n.Driver] != "":
			devices = append(devices, n)
		default:
			controllers[n.ID] = n
		}
	}
	if len(devices) == 0 {
		return nil
	}
	list := []string{}
	for _, d := range devices {
		if strings.HasPrefix(d.ID, "hostdev") {
			continue
		}
		list = append(list, describe(d, blockdev, controllers))
	}
	sort.Strings(list)
	return list
}

func describe(d node, blockdev, controllers map[string]node) string {
	bus := frontends[d.Driver]
	thread := d
	switch {
	case bus == "scsi":
		c := controllers[strings.SplitN(d.Bus, ".", 2)[0]]
		thread = c
		bus = map[string]string{
			"lsi": vmconf.LSI, "megasas": vmconf.MegaSAS, "pvscsi": vmconf.PVSCSI, "mptsas1068": vmconf.OtherBus,
			"spapr-vscsi": vmconf.OtherBus, "am53c974": vmconf.OtherBus, "dc390": vmconf.OtherBus,
		}[c.Driver]
		if strings.HasPrefix(c.Driver, "virtio-scsi") {
			bus = vmconf.VirtioSCSI
		}
	case bus == vmconf.IDE && !strings.HasPrefix(d.ID, "ide") && strings.HasPrefix(d.Bus, "ahci") || strings.HasPrefix(d.ID, "sata"):
		bus = vmconf.SATA
	}
	io := "off"
	if thread.IOThread != "" {
		io = strings.TrimPrefix(thread.IOThread, "iothread")
	} else if len(thread.Mapping) > 0 {
		io = "mapping"
	}
	top := blockdev[d.Drive]
	file := top
	for file.File != "" {
		file = blockdev[file.File]
	}
	cache := cacheOf(d, file)
	if file.Driver == "nvme" { // whatever the flags say
		cache = "none"
	}
	return line(bus, cache, or(file.AIO, "threads"), or(top.Discard, "ignore"), or(top.DetectZeroes, "off"), io, d.Drive == "")
}

// cacheOf names the cache that flags make; without the frontend's part a write-through cannot be told apart.
func cacheOf(d, file node) string {
	on := d.WriteCache != "off"
	switch {
	case file.Cache.NoFlush:
		return "unsafe"
	case file.Cache.Direct && on:
		return "none"
	case file.Cache.Direct:
		return "directsync"
	case on:
		return "writeback"
	}
	return "writethrough"
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func line(bus, cache, aio, discard, zeroes, thread string, empty bool) string {
	if empty {
		return fmt.Sprintf("%s empty", bus)
	}
	return fmt.Sprintf("%s cache=%s aio=%s discard=%s zeroes=%s thread=%s", bus, cache, aio, discard, zeroes, thread)
}

// understood describes what was read in the same way.
func understood(vm vmconf.VM) []string {
	list := []string{}
	for _, d := range vm.Disks {
		if d.Bus.Value == vmconf.SD { // -drive if=sd, which has no device
			continue
		}
		aio := or(d.AIO.Value, "threads")
		thread := d.IOThread.Value
		cache := or(d.Cache.Value, "writeback")
		list = append(list, line(d.Bus.Value, cache, aio, or(d.Discard.Value, "ignore"), or(d.DetectZeroes.Value, "off"), thread,
			d.Backend == "none" || d.Backend == "vhost-user"))
	}
	sort.Strings(list)
	return list
}
