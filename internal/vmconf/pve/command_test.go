package pve_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/pve"
)

// effect is what a disk is on QEMU's command line.
type effect struct {
	Bus, Cache, AIO, IOThread, Discard, DetectZeroes string
	NoMedium                                         bool
}

// TestCommands reads the configurations of qemu-server's own tests, and asks for each disk what the command of QEMU says
// that qemu-server made of it.
func TestCommands(t *testing.T) {
	folder := filepath.Join(testdata(t), "proxmox-cfg2cmd")
	storage := readStorage(t, filepath.Join(testdata(t), "proxmox-storage", "cfg2cmd-mock.storage.cfg"))
	files, err := filepath.Glob(filepath.Join(folder, "*.conf"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no configuration in %s: %v", folder, err)
	}
	pairs, disks, same := 0, 0, 0
	for _, file := range files {
		vm := readConf(t, file, storage).VMs()[0]
		text, err := os.ReadFile(file + ".cmd")
		if os.IsNotExist(err) {
			continue // qemu-server refuses it
		}
		if err != nil {
			t.Fatal(err)
		}
		pairs++
		want, got := commandEffects(t, string(text)), map[string]effect{}
		for _, d := range vm.Disks {
			if d.Device != "unused" && d.Device != "tpmstate" {
				got[d.ID] = confEffect(d, want[d.ID])
			}
		}
		disks += len(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-command +ours):\n%s", filepath.Base(file), diff)
			continue
		}
		same++
	}
	t.Logf("%d of %d pairs with %d drives agree", same, pairs, disks)
}

// confEffect is our reading of a disk. What the command leaves open for want of a medium is left open here too.
func confEffect(d vmconf.Disk, command effect) effect {
	e := effect{
		Bus: d.Bus.Value, Cache: d.Cache.Value, AIO: d.AIO.Value, IOThread: d.IOThread.Value,
		Discard: d.Discard.Value, DetectZeroes: d.DetectZeroes.Value, NoMedium: d.Source.Value == "",
	}
	if e.IOThread == "" {
		e.IOThread = "off"
	}
	if e.NoMedium && command.Cache == "" {
		e.Cache, e.AIO, e.Discard, e.DetectZeroes = "", "", "", ""
	}
	return e
}

// command is a command of QEMU, its arguments by option.
type command struct {
	drives  []map[string]string
	nodes   map[string]map[string]any
	devices map[string]map[string]string
}

func readCommand(t *testing.T, text string) command {
	t.Helper()
	c := command{nodes: map[string]map[string]any{}, devices: map[string]map[string]string{}}
	for _, line := range strings.Split(text, "\n") {
		option, arg, ok := strings.Cut(strings.TrimSuffix(strings.TrimSpace(line), " \\"), " ")
		if !ok {
			continue
		}
		arg = strings.Trim(arg, "'")
		switch option {
		case "-drive":
			c.drives = append(c.drives, pairs(arg))
		case "-blockdev":
			node := map[string]any{}
			if err := json.Unmarshal([]byte(arg), &node); err != nil {
				t.Fatalf("%v in %s", err, arg)
			}
			c.nodes[node["node-name"].(string)] = node
		case "-device":
			d := pairs("driver=" + arg)
			c.devices[d["id"]] = d
		}
	}
	return c
}

func pairs(arg string) map[string]string {
	m := map[string]string{}
	for _, p := range strings.Split(arg, ",") {
		k, v, _ := strings.Cut(p, "=")
		m[k] = v
	}
	return m
}

// commandEffects are the disks of a command by the ID of their device.
func commandEffects(t *testing.T, text string) map[string]effect {
	t.Helper()
	c := readCommand(t, text)
	effects := map[string]effect{}
	for id, d := range c.devices {
		if !strings.HasPrefix(d["driver"], "ide-") && !strings.HasPrefix(d["driver"], "scsi-") && d["driver"] != "virtio-blk-pci" {
			continue
		}
		e := effect{Bus: c.frontend(t, d), IOThread: "off", NoMedium: true}
		controller, _, _ := strings.Cut(d["bus"], ".")
		if d["iothread"] != "" || c.devices[controller]["iothread"] != "" {
			e.IOThread = "on"
		}
		if d["drive"] != "" {
			c.block(t, d["drive"], d["write-cache"] == "off", &e)
		}
		effects[id] = e
	}
	// Without an efidisk0 qemu-server makes a temporary file, which no line of the configuration speaks of.
	_, ok := c.nodes["drive-efidisk0"]
	if (ok || strings.Contains(text, "id=drive-efidisk0")) && !strings.Contains(text, `"/run/qemu-server/efidisk/`) {
		e := effect{Bus: "other", IOThread: "off"}
		c.block(t, "drive-efidisk0", false, &e)
		effects["efidisk0"] = e
	}
	return effects
}

// frontend is the bus of a device.
func (c command) frontend(t *testing.T, device map[string]string) string {
	t.Helper()
	if device["driver"] == "virtio-blk-pci" {
		return "virtio-blk"
	}
	controller, _, _ := strings.Cut(device["bus"], ".")
	driver := c.devices[controller]["driver"]
	if controller == "ide" {
		driver = "ide"
	}
	bus := map[string]string{
		"ide": "ide", "ahci": "sata", "lsi": "lsi", "megasas": "megasas", "pvscsi": "pvscsi", "virtio-scsi-pci": "virtio-scsi",
	}[driver]
	if bus == "" {
		t.Fatalf("%v is on no bus that is known here", device)
	}
	return bus
}

// block takes what a drive or a tree of nodes says, and QEMU's defaults.
func (c command) block(t *testing.T, id string, writeThrough bool, e *effect) {
	t.Helper()
	if node, ok := c.nodes[id]; ok {
		c.tree(node, writeThrough, e)
		return
	}
	for _, d := range c.drives {
		if d["id"] != id {
			continue
		}
		e.NoMedium = d["file"] == ""
		e.Cache, e.AIO, e.Discard, e.DetectZeroes = or(d["cache"], "writeback"), or(d["aio"], "threads"), "ignore", or(d["detect-zeroes"], "off")
		if d["discard"] == "on" {
			e.Discard = "unmap"
		}
		return
	}
	t.Fatalf("nothing is called %s", id)
}

func (c command) tree(node map[string]any, writeThrough bool, e *effect) {
	e.NoMedium = false
	text := func(key string) string { s, _ := node[key].(string); return s }
	e.Discard, e.DetectZeroes = or(text("discard"), "ignore"), or(text("detect-zeroes"), "off")
	for {
		child, ok := node["file"].(map[string]any)
		if !ok {
			break
		}
		node = child
	}
	cache := node["cache"].(map[string]any)
	e.AIO = text("aio")
	switch direct, unsafe := cache["direct"].(bool), cache["no-flush"].(bool); {
	case unsafe:
		e.Cache = "unsafe"
	case direct && writeThrough:
		e.Cache = "directsync"
	case direct:
		e.Cache = "none"
	case writeThrough:
		e.Cache = "writethrough"
	default:
		e.Cache = "writeback"
	}
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func testdata(t testing.TB) string {
	t.Helper()
	folder := os.Getenv("IOTAX_TESTDATA")
	if folder == "" {
		t.Skip("IOTAX_TESTDATA is not set")
	}
	return folder
}

func readConf(t testing.TB, file string, storage pve.Storage) *pve.Document {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d, err := pve.Parse(file, data, storage)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func readStorage(t testing.TB, file string) pve.Storage {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := pve.ParseStorage(file, data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
