// Package outcometest holds an audit's outcome made by hand, for the tests of every renderer. Machines, losses and rules are
// invented.
package outcometest

import (
	"strings"

	"github.com/iotax/iotax/internal/audit"
	"github.com/iotax/iotax/internal/audit/outcome"
	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/vmconf"
)

// dir is the folder that the audit was started in.
const dir = "/srv/vms"

// doc is a configuration whose changes replace texts.
type doc struct {
	text string
	vms  []vmconf.VM
	edit map[string][]string // by the setting: old, new, old, new ...
}

func (d doc) VMs() []vmconf.VM { return d.vms }
func (d doc) Bytes() []byte    { return []byte(d.text) }

func (d doc) Change(_ int, changes []vmconf.Change) ([]byte, error) {
	text := d.text
	for _, c := range changes {
		pairs, ok := d.edit[c.Setting]
		if !ok {
			return nil, errkind.List{errkind.Userf("%s/db01.xml has no word for %s", dir, c.Setting), errkind.Userf("and no place for it")}
		}
		text = strings.NewReplacer(pairs...).Replace(text)
	}
	return []byte(text), nil
}

// node is one that a command can change, too.
type node struct{ doc }

func (n node) QM(int, []vmconf.Change) (string, error) {
	return "qm set 100 --scsihw virtio-scsi-single", nil
}

const domain = `<domain type='kvm'>
  <name>db01</name>
  <vcpu>4</vcpu>
  <devices>
    <disk type='file' device='disk'>
      <driver name='qemu' type='raw' cache='unsafe'/>
      <source file='/vm/db01.raw'/>
      <target dev='vda' bus='virtio'/>
    </disk>
    <disk type='file' device='disk'>
      <driver name='qemu' type='raw' cache='none'/>
      <source file='/vm/größe.raw'/>
      <target dev='sdb' bus='sata'/>
    </disk>
  </devices>
</domain>
`

func libvirt() outcome.Source {
	file := dir + "/db01.xml"
	vm := vmconf.VM{Kind: vmconf.Libvirt, Name: "db01", At: vmconf.Place{File: file, Line: 1}, Disks: []vmconf.Disk{
		{ID: "vda", Device: "disk", At: vmconf.Place{File: file, Line: 5}},
		{ID: "sdb", Device: "disk", At: vmconf.Place{File: file, Line: 10}},
	}}
	vm.Unknown = []vmconf.Unknown{{Text: "element <qemu:\x1b[31mcapabilities>", At: vmconf.Place{File: file, Line: 9}}}
	snapshot := vmconf.VM{Kind: vmconf.Libvirt, Name: "db01", Part: "snapshot before", Disks: []vmconf.Disk{{ID: "vda"}}}
	return outcome.Source{Name: file, Kind: vmconf.Libvirt, Doc: doc{text: domain, vms: []vmconf.VM{vm, snapshot}, edit: map[string][]string{
		vmconf.SetCache: {"cache='unsafe'", "cache='none'"},
		vmconf.SetIOThread: {
			"  <vcpu>4</vcpu>\n", "  <vcpu>4</vcpu>\n  <iothreads>1</iothreads>\n", "cache='unsafe'/>", "cache='unsafe' iothread='1'/>",
		},
		vmconf.SetBus: {"dev='sdb' bus='sata'", "dev='vdb' bus='virtio'"},
	}}}
}

func proxmox() outcome.Source {
	file := "/etc/pve/qemu-server/100.conf"
	vm := vmconf.VM{Kind: vmconf.Proxmox, Name: "web", ID: "100", At: vmconf.Place{File: file, Line: 1}, Disks: []vmconf.Disk{
		{ID: "scsi0", Device: "disk", At: vmconf.Place{File: file, Line: 2}},
	}}
	return outcome.Source{Name: file, Kind: vmconf.Proxmox, Doc: node{doc{
		text: "name: web\nscsi0: local-lvm:vm-100-disk-0,size=32G", vms: []vmconf.VM{vm},
		edit: map[string][]string{vmconf.SetIOThread: {"name: web\n", "name: web\nscsihw: virtio-scsi-single\n", "size=32G", "iothread=1,size=32G"}},
	}}}
}

func process() outcome.Source {
	file := "/proc/4711/cmdline"
	vm := vmconf.VM{Kind: vmconf.QEMU, At: vmconf.Place{File: file, Line: 1}, Disks: []vmconf.Disk{
		{ID: "virtio-disk0", Device: "disk", At: vmconf.Place{File: file, Line: 1}},
	}}
	text := "qemu-system-x86_64\x00-name\x00guest=a-machine-with-a-long-name,debug-threads=on\x00-m\x008192\x00-smp\x008\x00" +
		"-drive\x00file=/vm/a.qcow2,format=qcow2,if=virtio,id=virtio-disk0,cache=writethrough,discard=unmap\x00-nodefaults\x00"
	return outcome.Source{Name: file, Kind: vmconf.QEMU, Doc: doc{
		text: text, vms: []vmconf.VM{vm}, edit: map[string][]string{vmconf.SetCache: {"cache=writethrough", "cache=none"}},
	}}
}

// Default has findings of every severity and scope: priced and not, with changes that can be made and one that cannot, with
// commands, of a long line, and of the host; besides, something of each kind that was not understood or read.
func Default() *outcome.Outcome {
	o := outcome.New(dir, []outcome.Source{libvirt(), proxmox(), process()})
	o.Version, o.Run = "1.2", "7k2f"
	o.Storages = []string{"/etc/pve/storage.cfg"}
	o.Skipped = []outcome.Skipped{{Name: "notes.txt", Why: "no configuration"}}
	o.Faults = []string{"broken.xml:3: the element <disk> is not closed"}
	o.Add(findings())
	for i := range o.Findings {
		o.Findings[i].Of = rules[o.Findings[i].Rule]
	}
	return o
}

// Empty is that of a folder in which all is well.
func Empty() *outcome.Outcome {
	o := outcome.New(dir, []outcome.Source{proxmox()})
	o.Version = "1.2"
	return o
}

var rules = map[string]audit.Rule{
	"IOT901": {
		ID: "IOT901", Title: "flushes are ignored", Severity: audit.DataAtRisk, Looks: "cache=unsafe.", Why: "A flush is confirmed and not carried out.",
		Sources: []string{"qemu(1)", "https://example.org/caches"}, Guests: "any", Restart: audit.RestartPowerCycle,
	},
	"IOT902": {
		ID: "IOT902", Title: "emulated SATA", Severity: audit.LargeLoss, Looks: "a disk on SATA.", Why: "It is emulated register by register.",
		Guests: "those with virtio", Restart: audit.RestartPowerCycle,
	},
	"IOT903": {
		ID: "IOT903", Title: "no iothread", Severity: audit.SmallLoss, Looks: "a virtio disk without one.", Why: "QEMU's main loop has other things to do.",
		Guests: "any", Restart: audit.RestartPowerCycle,
	},
	"IOT904": {ID: "IOT904", Title: "no guest agent", Severity: audit.Hygiene, Looks: "no agent.", Why: "Backups are not consistent.", Guests: "any", Restart: audit.RestartReboot},
	"IOT905": {ID: "IOT905", Title: "the host swaps early", Severity: audit.SmallLoss, Looks: "vm.swappiness.", Why: "Memory of guests is put there.", Guests: "any", Restart: audit.RestartNothing},
}

func findings() []audit.Finding {
	at := func(file string, line int) vmconf.Place { return vmconf.Place{File: file, Line: line} }
	price := func(v, low, high float64, workload, from, to string) *audit.Price {
		return &audit.Price{
			Ratio: stat.Estimate{Value: v, Low: low, High: high}, Metric: "iops", Workload: workload, Run: "7k2f", From: from, To: to, Accelerator: "kvm",
		}
	}
	cache := []audit.Change{{Disk: "vda", Setting: vmconf.SetCache, Value: "none"}}
	db := audit.Finding{VM: "db01", Restart: audit.RestartPowerCycle}
	web := audit.Finding{VM: "web", Index: 2, Restart: audit.RestartPowerCycle}
	unsafe, thread, sata, agent, own, scsi, through, host := db, db, db, db, web, web, web, audit.Finding{VM: "", Index: -1}
	unsafe.Rule, unsafe.Severity, unsafe.Disk, unsafe.Setting, unsafe.Effective, unsafe.At = "IOT901", audit.DataAtRisk, "vda", "cache", "unsafe", at(dir+"/db01.xml", 6)
	unsafe.Why, unsafe.Changes = "a flush of the guest is confirmed and never carried out, and none keeps it", cache
	unsafe.Price = price(11.5, 10.9, 12.2, "syncwrite-4k-q1", "unsafe", "virtio-blk")
	sata.Rule, sata.Severity, sata.Disk, sata.Setting, sata.Effective, sata.At = "IOT902", audit.LargeLoss, "sdb", "bus", "sata", at(dir+"/db01.xml", 13)
	sata.Why, sata.Changes = "the sata controller is emulated register by register", []audit.Change{{Disk: "sdb", Setting: vmconf.SetBus, Value: vmconf.VirtioBlk}}
	sata.Needs = []string{"the guest mounts by UUID or label: the disk gets another name in it", "the guest has drivers for virtio"}
	thread.Rule, thread.Severity, thread.Disk, thread.Setting, thread.Effective, thread.Default = "IOT903", audit.SmallLoss, "vda", "iothread", "off", "QEMU's default"
	thread.Why, thread.At = "its requests share QEMU's main loop with everything else of the machine", at(dir+"/db01.xml", 6)
	thread.Changes, thread.Price = []audit.Change{{Disk: "vda", Setting: vmconf.SetIOThread, Value: "on"}}, price(0.54, 0.5, 0.59, "randread-4k-q32", "virtio-blk", "virtio-blk-iothread")
	agent.Rule, agent.Severity, agent.Setting, agent.Effective, agent.Default, agent.Restart = "IOT904", audit.Hygiene, "agent", "off", "libvirt's default", audit.RestartReboot
	agent.Why, agent.At, agent.Changes = "backups cannot freeze the guest's file systems", at(dir+"/db01.xml", 1), []audit.Change{{Setting: vmconf.SetAgent, Value: "on"}}
	own.Rule, own.Severity, own.Disk, own.Setting, own.Effective, own.Default = "IOT903", audit.SmallLoss, "scsi0", "iothread", "off", "Proxmox VE's default"
	own.Why, own.At, own.Changes = thread.Why, at("/etc/pve/qemu-server/100.conf", 2), []audit.Change{{Disk: "scsi0", Setting: vmconf.SetIOThread, Value: "on"}}
	own.Price = price(0.995, 0.97, 1.02, "randread-4k-q1", "no-thread", "proxmox-default")
	own.Price.Accelerator = "tcg"
	scsi.Rule, scsi.Severity, scsi.Setting, scsi.Effective, scsi.Why, scsi.At = "IOT904", audit.Hygiene, "agent", "off", agent.Why, at("/etc/pve/qemu-server/100.conf", 1)
	scsi.Commands, scsi.Restart = []string{"apt-get install qemu-guest-agent"}, audit.RestartNothing
	through.VM, through.Index, through.Disk, through.Rule, through.Severity = "", 3, "virtio-disk0", "IOT902", audit.LargeLoss
	through.Setting, through.Effective, through.At, through.Why = "cache", "writethrough", at("/proc/4711/cmdline", 1), "each write waits until it is on the medium"
	through.Changes = []audit.Change{{Disk: "virtio-disk0", Setting: vmconf.SetCache, Value: "none"}}
	host.Rule, host.Severity, host.Restart, host.Setting, host.Effective, host.At = "IOT905", audit.SmallLoss, audit.RestartNothing, "vm.swappiness", "60", at("/proc/sys/vm/swappiness", 0)
	host.Why, host.Commands = "the host has swap, and 60 lets it put memory of guests there early", []string{"sysctl -w vm.swappiness=10", "echo vm.swappiness=10 > /etc/sysctl.d/90-guests.conf"}
	return []audit.Finding{unsafe, sata, thread, agent, own, scsi, through, host}
}
