package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/vmconf"
)

// world is what is audited. As good returns it, there is nothing to find.
type world struct {
	vms     []vmconf.VM
	host    Host
	volumes map[string]Volume
}

const good = "/dev/mapper/vg-web"

func (w *world) vm() *vmconf.VM     { return &w.vms[0] }
func (w *world) disk() *vmconf.Disk { return &w.vms[0].Disks[0] }

// on puts a volume under the first disk.
func (w *world) on(v Volume) {
	v.Path = "/here" + w.disk().Source.Value
	w.volumes[w.disk().Source.Value] = v
}

// file makes a file of a format of the first disk, on a file system.
func (w *world) file(format, filesystem string, v Volume) {
	d := w.disk()
	d.Source, d.Backend, d.Format = set("/images/web."+format), "file", set(format)
	v.Filesystem = filesystem
	w.on(v)
}

// qcow2 makes an image of the first disk, all of which is in use.
func (w *world) qcow2(edit func(i *Image)) {
	i := &Image{Format: "qcow2", VirtualSize: 64 << 30, ActualSize: 64 << 30, ClusterSize: 64 << 10, Compat: "1.1"}
	edit(i)
	w.file("qcow2", "ext4", Volume{Image: i})
	w.disk().AIO = set("io_uring")
}

// lvm, zfs and device put such a volume under the first disk.
func (w *world) lvm(v LV) {
	v.Group, v.Name = "vg", "web"
	w.on(Volume{LV: &v, Block: &Device{Name: "dm-1"}})
}

func (w *world) zfs(d Dataset) {
	d.Name = "tank/web"
	w.on(Volume{Dataset: &d, Block: &Device{Name: "zd16"}, Size: 1 << 30})
}

func (w *world) device(one Device) {
	w.on(Volume{Block: &Device{Name: "sda1"}, Devices: []string{one.Name}})
	w.host.Devices = []Device{one}
}
func (w *world) add(d vmconf.Disk)    { w.vm().Disks = append(w.vm().Disks, d) }
func (w *world) queues(bus, n string) { w.disk().Bus, w.disk().Queues = set(bus), set(n) }

// second is another disk like the first.
func (w *world) second() vmconf.Disk {
	d := *w.disk()
	d.ID, d.Source = "vdb", set(good+"-data")
	return d
}

func set(value string) vmconf.Setting {
	return vmconf.Written(value, value, vmconf.Place{File: "web.xml", Line: 7})
}

func unset(value string) vmconf.Setting {
	return vmconf.Default(value, "QEMU's default", vmconf.Place{File: "web.xml", Line: 3})
}

func goodWorld() *world {
	return &world{volumes: map[string]Volume{}, vms: []vmconf.VM{{
		Kind: vmconf.Libvirt, Name: "web", Hypervisor: "kvm", Guest: vmconf.Linux, QEMU: vmconf.Version{Major: 10, Minor: 1},
		Machine: set("pc-q35-10.0"), CPUs: set("4"), Memory: set("8589934592"), Hugepages: unset("off"), Balloon: set("off"),
		Agent: set("on"), Pinning: unset("off"), NUMA: unset("off"), IOThreads: []vmconf.IOThread{{ID: "1", Pinned: true}},
		Disks: []vmconf.Disk{{
			ID: "vda", Device: "disk", At: vmconf.Place{File: "web.xml", Line: 5}, Bus: set("virtio-blk"), Source: set(good),
			Backend: "block", Format: set("raw"), Cache: set("none"), AIO: set("native"), IOThread: set("1"), Discard: set("unmap"),
			DetectZeroes: unset("off"), Queues: unset("4"), QueueSize: unset("256"), LogicalBlock: unset("512"), PhysicalBlock: set("4096"),
		}},
	}}}
}

func (w *world) audit() []Finding { return Audit(w.vms, w.host, w.volumes) }

func TestNothingToFind(t *testing.T) {
	if found := goodWorld().audit(); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}

// Each rule has cases that trip it and cases that nearly do.
func TestRules(t *testing.T) {
	var text strings.Builder
	for _, r := range Rules() {
		c, ok := cases[r.ID]
		if !ok || len(c.trip) < 1 || len(c.near) < 2 {
			t.Errorf("%s: %d cases that trip it and %d that nearly do, expected 1 and 2 at least", r.ID, len(c.trip), len(c.near))
		}
		for i, edit := range c.trip {
			w := goodWorld()
			edit(w)
			found := of(r.ID, w.audit())
			if len(found) == 0 {
				t.Errorf("%s: case %d does not trip it", r.ID, i)
			}
			for _, f := range found {
				write(&text, f)
				harmless(t, w, f)
			}
		}
		for i, edit := range c.near {
			w := goodWorld()
			edit(w)
			for _, f := range of(r.ID, w.audit()) {
				t.Errorf("%s: case %d only nearly trips it, and it says %q", r.ID, i, f.Why)
			}
		}
	}
	for id := range cases {
		if _, ok := Find(id); !ok {
			t.Errorf("cases of %s, which is no rule", id)
		}
	}
	golden.Equal(t, "testdata/findings.txt", text.String())
}

func of(rule string, found []Finding) []Finding {
	return slices.DeleteFunc(found, func(f Finding) bool { return f.Rule != rule })
}

func write(w *strings.Builder, f Finding) {
	fmt.Fprintf(w, "%s %s: %s %s=%s", f.Rule, f.Severity, strings.TrimSpace(f.VM+" "+f.Disk), f.Setting, f.Effective)
	if f.Default != "" {
		fmt.Fprintf(w, " (%s)", f.Default)
	}
	fmt.Fprintf(w, " %s:%d\n    %s\n", f.At.File, f.At.Line, f.Why)
	for _, c := range f.Changes {
		fmt.Fprintf(w, "    change %s %s=%q\n", c.Disk, c.Setting, c.Value)
	}
	for _, c := range f.Commands {
		fmt.Fprintf(w, "    $ %s\n", c)
	}
	for _, n := range f.Needs {
		fmt.Fprintf(w, "    needs: %s\n", n)
	}
}

// durability orders cache modes by what a crash of the host can take.
var durability = map[string]int{"unsafe": 0, "writeback": 1, "none": 1, "writethrough": 2, "directsync": 2}

// harmless checks what holds of every finding.
func harmless(t *testing.T, w *world, f Finding) {
	t.Helper()
	if f.Setting == "" || f.Effective == "" || f.Why == "" || strings.HasSuffix(f.Why, ".") {
		t.Errorf("%s: %+v lacks something, or ends with a full stop", f.Rule, f)
	}
	if len(f.Changes)+len(f.Commands)+len(f.Needs) == 0 {
		t.Errorf("%s says nothing of what to do", f.Rule)
	}
	for _, c := range f.Changes {
		if c.Setting == vmconf.SetCache && durability[c.Value] < durability[w.disk().Cache.Value] {
			t.Errorf("%s: cache=%s is less safe than %s", f.Rule, c.Value, w.disk().Cache.Value)
		}
		if c.Setting == vmconf.SetBus && strings.HasPrefix(c.Value, "virtio") && len(f.Needs) == 0 {
			t.Errorf("%s: virtio without a word of drivers", f.Rule)
		}
	}
}

// bad makes every setting of a disk one that a rule would find.
func bad(d *vmconf.Disk) {
	d.Bus, d.Cache, d.AIO, d.IOThread, d.Discard = set("ide"), set("unsafe"), set("threads"), unset("off"), unset("ignore")
	d.DetectZeroes, d.Throttle = set("unmap"), []vmconf.Setting{set("100")}
}

func TestWhatHoldsNoData(t *testing.T) {
	for name, edit := range map[string]func(w *world){
		"CD-ROM":        func(w *world) { w.disk().Device = "cdrom" },
		"floppy":        func(w *world) { w.disk().Device, w.disk().Bus = "floppy", set("floppy") },
		"read-only":     func(w *world) { w.disk().ReadOnly = true },
		"no medium":     func(w *world) { w.disk().Source = vmconf.Setting{} },
		"EFI variables": func(w *world) { w.disk().ID = "efidisk0" },
		"TPM":           func(w *world) { w.disk().ID = "tpmstate0" },
		"OVMF":          func(w *world) { w.disk().Source = set("/var/lib/OVMF_VARS.fd") },
		"cloud-init":    func(w *world) { w.disk().Source = set("local-lvm:vm-100-cloudinit") },
		"NoCloud":       func(w *world) { w.disk().Source = set("/images/cidata.img") },
		"ISO":           func(w *world) { w.disk().Source = set("/images/debian.iso") },
		"tiny":          func(w *world) { w.disk().Size = 4 << 20 },
		"folder":        func(w *world) { w.disk().Backend = "dir" },
		"snapshot":      func(w *world) { w.vm().Part = "snapshot before" },
		"pending":       func(w *world) { w.vm().Part = "pending" },
	} {
		w := goodWorld()
		bad(w.disk())
		if len(w.audit()) < 4 {
			t.Fatalf("only %d findings: the disk is not bad enough", len(w.audit()))
		}
		edit(w)
		for _, f := range w.audit() {
			t.Errorf("%s: %s %s", name, f.Rule, f.Why)
		}
	}
}

// A rule never fires on what is not known.
func TestNothingIsKnown(t *testing.T) {
	for _, kind := range []string{vmconf.Libvirt, vmconf.Proxmox, vmconf.QEMU, vmconf.XL} {
		d := vmconf.Disk{ID: "vda", Device: "disk", Source: set("somewhere")}
		w := &world{vms: []vmconf.VM{{Kind: kind, Disks: []vmconf.Disk{d, d}}}}
		for _, f := range w.audit() {
			t.Errorf("%s: %s %s", kind, f.Rule, f.Why)
		}
		w.volumes = map[string]Volume{"somewhere": {Path: "/somewhere", Image: &Image{}, LV: &LV{}, Dataset: &Dataset{}, Block: &Device{}}}
		for _, f := range w.audit() {
			t.Errorf("%s with a volume: %s %s", kind, f.Rule, f.Why)
		}
	}
}

// What is of a controller is said once, and of a disk for each.
func TestOncePerController(t *testing.T) {
	w := goodWorld()
	at := vmconf.Place{File: "web.xml", Line: 20}
	w.vm().Controllers = []vmconf.Controller{
		{ID: "scsi0", IOThread: vmconf.Default("off", "", at), Queues: vmconf.Default("1", "", at), QueueSize: vmconf.Default("256", "", at)},
		{ID: "scsi1", IOThread: vmconf.Default("off", "", at), QueueSize: vmconf.Default("256", "", at)},
	}
	first := *w.disk()
	w.vm().Disks = nil
	for i, controller := range []string{"scsi0", "scsi0", "scsi1", "", ""} {
		d := first
		d.ID, d.Controller, d.Bus, d.IOThread = fmt.Sprint("d", i), controller, set("virtio-scsi"), vmconf.Setting{}
		d.Source, d.Queues = set(fmt.Sprint(good, i)), vmconf.Setting{}
		if controller == "" {
			d.Bus, d.IOThread, d.Queues = set("virtio-blk"), unset("off"), set("1")
		}
		w.add(d)
	}
	for rule, want := range map[string]string{"IOT016": "d0 d2 d3 d4", "IOT023": "d0 d3 d4"} {
		var got []string
		for _, f := range of(rule, w.audit()) {
			got = append(got, f.Disk)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", rule, got, want)
		}
	}
}

func TestOrder(t *testing.T) {
	w := goodWorld()
	bad(w.disk())
	w.vms = append(w.vms, w.vms[0])
	w.vms[1].Name, w.vms[1].ID = "", "102"
	found := w.audit()
	for i := 1; i < len(found); i++ {
		a, b := found[i-1], found[i]
		if a.Index > b.Index || a.Index == b.Index && a.Severity < b.Severity {
			t.Errorf("%s of machine %d before %s of machine %d", a.Rule, a.Index, b.Rule, b.Index)
		}
	}
	if found[0].VM != "web" || found[len(found)-1].VM != "102" || found[0].Rule != "IOT004" || found[0].Restart != RestartPowerCycle {
		t.Errorf("first %+v, last %+v", found[0], found[len(found)-1])
	}
}
