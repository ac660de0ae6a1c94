package xl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// readDisks reads every disk, also those that xl would refuse: that is said, and the disk is kept.
func (d *Document) readDisks(m machine) {
	list := d.settings["disk"]
	if list == nil {
		return
	}
	if !list.list && !list.python {
		d.say(list.line, "disk is no list: xl steps over it")
	}
	taken, count := map[string]bool{}, map[string]int{}
	for _, v := range d.items("disk") {
		if v.list || v.python && v.text == "" {
			d.say(v.tok.line, "disk: "+d.written(v))
			continue
		}
		s := parseSpec(v.text)
		disk := m.disk(&s, d.at(v.tok.line))
		if disk.ID == "" {
			disk.ID = fmt.Sprintf("disk%d", len(d.disks))
		}
		if name := disk.ID; taken[name] { // xl creates no such domain
			s.problem("the vdev %s is there twice", name)
			for taken[disk.ID] {
				count[name]++
				disk.ID = fmt.Sprintf("%s#%d", name, count[name]+1)
			}
		}
		taken[disk.ID] = true
		for _, problem := range s.problems {
			d.say(v.tok.line, "disk "+disk.ID+": "+problem)
		}
		d.vm.Disks = append(d.vm.Disks, disk)
		d.disks = append(d.disks, diskOf{spec: s, value: v})
	}
}

// models are the controllers that QEMU has for disks of a domain, by the name that disks have for them.
var models = []struct{ id, bus, model string }{
	{"ide", vmconf.IDE, "piix3-ide"},
	{"ahci0", vmconf.SATA, "ich9-ahci"},
	{"scsi0", vmconf.LSI, "lsi53c895a"},
}

// controllers lists what the emulated disks hang on.
func (d *Document) controllers() {
	for _, m := range models {
		i := slices.IndexFunc(d.vm.Disks, func(x vmconf.Disk) bool { return x.Controller == m.id })
		if i < 0 {
			continue
		}
		at := d.vm.Disks[i].At
		d.vm.Controllers = append(d.vm.Controllers, vmconf.Controller{
			ID: m.id, Bus: m.bus, Model: vmconf.Default(m.model, "xl's choice", at),
			IOThread: vmconf.Default("off", "it has none", at), Queues: vmconf.Default("1", "it has one", at),
			QueueSize: vmconf.Setting{Why: "not a setting of it", At: at}, At: at,
		})
	}
}

// arguments tells of arguments for QEMU that may add disks of their own.
func (d *Document) arguments() {
	for _, key := range []string{"device_model_args", "device_model_args_pv", "device_model_args_hvm"} {
		for _, v := range d.items(key) {
			if strings.HasPrefix(v.text, "-drive") || strings.HasPrefix(v.text, "-blockdev") || strings.HasPrefix(v.text, "-device") ||
				strings.HasPrefix(v.text, "-hd") || strings.HasPrefix(v.text, "-cdrom") || strings.HasPrefix(v.text, "-fd") {
				d.say(v.tok.line, key+": "+v.text+", an argument for QEMU")
			}
		}
	}
}
