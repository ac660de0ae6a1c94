package price

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/audit"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/text/reporttest"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/vmconf"
)

// measured is the made result with its storage spelled out, as that of a stored run is, and rounds that scatter.
func measured() analyse.Result {
	r := reporttest.Default()
	r.Experiment = spec.Complete(r.Experiment)
	for i := range r.Cells {
		c := &r.Cells[i]
		if len(c.Points) == 0 {
			continue
		}
		p := c.Points[0]
		c.Points = nil
		for round := range 7 {
			p.Round, p.Ratio = round+1, p.Ratio*math.Exp(0.002*float64((round*5+i)%7-3))
			c.Points = append(c.Points, p)
		}
	}
	return r
}

func set(value string) vmconf.Setting { return vmconf.Setting{Value: value, Set: true} }

// machine has one disk that is as the stack "virtio-blk" is.
func machine(change func(vm *vmconf.VM, d *vmconf.Disk)) []vmconf.VM {
	d := vmconf.Disk{
		ID: "vda", Device: "disk", Bus: set(vmconf.VirtioBlk), Source: set("/vm/a.raw"), Backend: "file", Format: set("raw"), Cache: set("none"),
		AIO: set("io_uring"), IOThread: vmconf.Default("off", "QEMU's default", vmconf.Place{}), Discard: set("ignore"),
	}
	vm := vmconf.VM{Kind: vmconf.Libvirt, Name: "a"}
	if change != nil {
		change(&vm, &d)
	}
	vm.Disks = []vmconf.Disk{{ID: "hda", Device: "cdrom"}, d}
	return []vmconf.VM{{Name: "other"}, vm}
}

func finding(changes ...audit.Change) audit.Finding {
	return audit.Finding{Rule: "IOT016", VM: "a", Index: 1, Disk: "vda", Changes: changes}
}

var iothread = audit.Change{Disk: "vda", Setting: vmconf.SetIOThread, Value: "on"}

func tag(f audit.Finding, vms []vmconf.VM, v audit.Volume, r analyse.Result) *audit.Price {
	all := []audit.Finding{f}
	Tag(all, vms, map[string]audit.Volume{"/vm/a.raw": v}, r)
	return all[0].Price
}

func TestThePriceIsThatOfTheWorkloadThatLosesMost(t *testing.T) {
	got := tag(finding(iothread), machine(nil), audit.Volume{}, measured())
	want := &audit.Price{
		Metric: record.IOPS, Workload: "randread-4k-q32", Run: "7k2f", From: "virtio-blk", To: "virtio-blk-iothread", Accelerator: "tcg",
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(audit.Price{}, "Ratio")); d != "" {
		t.Fatalf("-want +got:\n%s", d)
	}
	if e := got.Ratio; math.Abs(e.Value-0.20/0.37) > 0.02 || e.Low >= e.Value || e.High <= e.Value || e.High > 0.7 {
		t.Errorf("%+v", e)
	}
	single, _ := measured().Compare("virtio-blk", "virtio-blk-iothread", "randread-4k-q32", 0.95)
	if got.Ratio.HalfWidth() <= single.HalfWidth() {
		t.Errorf("the worst of seven workloads is as sure, %+v, as a single one, %+v", got.Ratio, single)
	}
}

func TestBandwidthIsPricedToo(t *testing.T) {
	sata := machine(func(_ *vmconf.VM, d *vmconf.Disk) { d.Bus = set(vmconf.SATA) })
	got := tag(finding(audit.Change{Disk: "vda", Setting: vmconf.SetBus, Value: vmconf.VirtioBlk}), sata, audit.Volume{}, measured())
	if got == nil || got.Workload != "write-256k" || got.Metric != record.Bandwidth || got.From != "sata" || got.To != "virtio-blk" {
		t.Errorf("%+v", got)
	}
}

// A setting that is faster as it is has a price too: what the change gives up.
func TestWhatTheChangeGivesUp(t *testing.T) {
	r := measured()
	for i, s := range r.Experiment.Stacks {
		if s.Name == "unsafe" {
			r.Experiment.Stacks[i].AIO = "io_uring"
		}
	}
	unsafe := machine(func(_ *vmconf.VM, d *vmconf.Disk) { d.Cache = set("unsafe") })
	got := tag(finding(audit.Change{Disk: "vda", Setting: vmconf.SetCache, Value: "none"}), unsafe, audit.Volume{}, r)
	if got == nil || got.Workload != "syncwrite-4k-q1" || math.Abs(got.Ratio.Value-11.5/0.87) > 1 {
		t.Errorf("%+v", got)
	}
}

// Controllers and iothreads go by other names in stacks than in configurations.
func TestProxmox(t *testing.T) {
	r := measured()
	r.Experiment.Stacks = append(r.Experiment.Stacks, spec.Stack{
		Name: "no-thread", Format: "raw", Storage: "file", Bus: "virtio-scsi", Cache: "none", AIO: "io_uring", Discard: "ignore", DetectZeroes: "off",
	})
	for _, c := range r.Cells {
		if c.Stack == "sata" {
			c.Stack = "no-thread"
			r.Cells = append(r.Cells, c)
		}
	}
	scsi := machine(func(vm *vmconf.VM, d *vmconf.Disk) {
		d.Bus, d.Controller, d.IOThread = set(vmconf.VirtioSCSI), "scsihw0", vmconf.Setting{}
		vm.Controllers = []vmconf.Controller{{ID: "scsihw0", IOThread: set("off")}}
	})
	if got := tag(finding(iothread), scsi, audit.Volume{Path: "/vm/a.raw"}, r); got == nil || got.From != "no-thread" || got.To != "proxmox-default" {
		t.Errorf("%+v", got)
	}
}

func TestNotMeasured(t *testing.T) {
	as := func(change func(d *vmconf.Disk)) []vmconf.VM {
		return machine(func(_ *vmconf.VM, d *vmconf.Disk) { change(d) })
	}
	host := finding(iothread)
	host.Index, host.Disk = -1, ""
	gone := finding(iothread)
	gone.Disk = "vdz"
	two := measured()
	for i := range two.Experiment.Stacks {
		if two.Experiment.Stacks[i].Name == "virtio-blk-iothread" {
			two.Experiment.Stacks[i].QueueSize = 1024
		}
	}
	single := measured()
	for i := range single.Cells {
		single.Cells[i].Points = single.Cells[i].Points[:min(1, len(single.Cells[i].Points))]
	}
	for name, tt := range map[string]struct {
		f  audit.Finding
		vm []vmconf.VM
		v  audit.Volume
		r  analyse.Result
	}{
		"of the host":               {f: host},
		"nothing to change":         {f: finding()},
		"no such disk":              {f: gone},
		"another format":            {vm: as(func(d *vmconf.Disk) { d.Format = set("qcow2") })},
		"another cache":             {vm: as(func(d *vmconf.Disk) { d.Cache = set("directsync") })},
		"aio not known":             {vm: as(func(d *vmconf.Disk) { d.AIO = vmconf.Setting{} })},
		"on LVM":                    {v: audit.Volume{Path: "/dev/vg/a", LV: &audit.LV{Group: "vg"}, Block: &audit.Device{}}},
		"on another file system":    {v: audit.Volume{Path: "/vm/a.raw", Filesystem: "nfs4"}},
		"on a server":               {vm: as(func(d *vmconf.Disk) { d.Backend = "network" })},
		"in another pool":           {vm: as(func(d *vmconf.Disk) { d.Backend, d.Storage = "pool", "rbd" })},
		"spread over iothreads":     {vm: as(func(d *vmconf.Disk) { d.IOThread = set("mapping") })},
		"it is so already":          {vm: as(func(d *vmconf.Disk) { d.IOThread = set("iothread1") })},
		"of another disk as well":   {f: finding(iothread, audit.Change{Disk: "vdb", Setting: vmconf.SetIOThread, Value: "on"})},
		"more than stacks can say":  {f: finding(audit.Change{Disk: "vda", Setting: vmconf.SetPhysical, Value: "4096"})},
		"to a value of no stack":    {f: finding(audit.Change{Disk: "vda", Setting: vmconf.SetCache, Value: "directsync"})},
		"stacks that differ in two": {r: two},
		"a single round":            {r: single},
	} {
		if tt.f.Rule == "" {
			tt.f = finding(iothread)
		}
		if tt.vm == nil {
			tt.vm = machine(nil)
		}
		if tt.r.Run.ID == "" {
			tt.r = measured()
		}
		if got := tag(tt.f, tt.vm, tt.v, tt.r); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// What was found under a disk counts before what is written of it.
func TestStorage(t *testing.T) {
	block, dir := vmconf.Disk{Backend: "block"}, vmconf.Disk{Backend: "pool", Storage: "dir"}
	device := &audit.Device{}
	for i, tt := range []struct {
		d    vmconf.Disk
		v    audit.Volume
		want string
	}{
		{block, audit.Volume{}, "device"},
		{block, audit.Volume{Path: "/dev/vg/a", Block: device, LV: &audit.LV{Thin: true}}, "lvm-thin"},
		{block, audit.Volume{Path: "/dev/vg/a", Block: device, LV: &audit.LV{}}, "lvm"},
		{block, audit.Volume{Path: "/dev/zvol/p/a", Block: device, Dataset: &audit.Dataset{}}, "zvol"},
		{dir, audit.Volume{}, "file"},
		{dir, audit.Volume{Path: "/p/a", Dataset: &audit.Dataset{}}, "zfs-file"},
		{vmconf.Disk{Backend: "pool", Storage: "lvmthin"}, audit.Volume{}, "lvm-thin"},
		{vmconf.Disk{Backend: "file", Storage: "nfs"}, audit.Volume{}, ""},
		{vmconf.Disk{Backend: "network"}, audit.Volume{}, ""},
	} {
		if got := storageOf(tt.d, tt.v); got != tt.want {
			t.Errorf("%d: %q, want %q", i, got, tt.want)
		}
	}
}
