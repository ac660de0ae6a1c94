package xl

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// domain makes the machine of the settings.
func (d *Document) domain(unknown []vmconf.Unknown) {
	d.vm = vmconf.VM{Kind: vmconf.XL, Hypervisor: "xen", At: d.at(1), Unknown: unknown}
	vm := &d.vm
	if name, ok := d.single("name"); ok {
		vm.Name, vm.At = name.text, d.at(name.line)
	}
	if id, ok := d.single("uuid"); ok {
		vm.ID = id.text
	}
	d.machine()
	d.guest()
	d.processors()
	d.memory()
	d.channels()
	d.passthrough()
	m := machine{hvm: vm.Machine.Value == hvm}
	if kind, ok := d.single("hdtype"); ok && kind.text == "ahci" {
		m.ahci = true
	}
	d.readDisks(m)
	d.controllers()
	d.arguments()
	d.strangers()
	slices.SortStableFunc(vm.Unknown, func(a, b vmconf.Unknown) int {
		return cmp.Or(cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.Text, b.Text))
	})
}

// Machines of QEMU that libvirt and QEMU name the types of domains by.
const (
	hvm = "xenfv"
	pv  = "xenpv"
	pvh = "xenpvh"
)

// machine reads type or, of older configurations, builder; beginnings of the words are enough for xl.
func (d *Document) machine() {
	d.vm.Machine = vmconf.Default(pv, "xl's default is a PV domain", d.vm.At)
	for _, key := range []string{"type", "builder"} {
		s, ok := d.single(key)
		if !ok {
			continue
		}
		m := vmconf.Written("", s.text, d.at(s.line))
		switch {
		case strings.HasPrefix("hvm", s.text):
			m.Value = hvm
		case strings.HasPrefix("pv", s.text), key == "builder" && (strings.HasPrefix("generic", s.text) || s.text == "linux"):
			m.Value = pv
		case strings.HasPrefix("pvh", s.text):
			m.Value = pvh
		default:
			d.refuse(s, key)
			continue
		}
		d.vm.Machine = m
	}
}

// guest tells the operating system where the configuration shows it: Hyper-V's interfaces are Windows', and who boots a
// vmlinuz is Linux.
func (d *Document) guest() {
	if s := d.settings["viridian"]; s != nil && !s.python && (s.list && len(s.items) > 0 || !s.list && s.text != "0" && s.text != "") {
		d.vm.Guest, d.vm.GuestDetail = vmconf.Windows, "viridian"
		return
	}
	if s, ok := d.single("kernel"); ok && strings.HasPrefix(path.Base(s.text), "vmlinu") {
		d.vm.Guest, d.vm.GuestDetail = vmconf.Linux, path.Base(s.text)
	}
}

func (d *Document) processors() {
	vm := &d.vm
	vm.CPUs = vmconf.Default("1", "xl's default", vm.At)
	if n, s, ok := d.number("vcpus"); ok {
		vm.CPUs = vmconf.Written(strconv.FormatInt(n, 10), s.text, d.at(s.line))
	}
	vm.Pinning = vmconf.Default("off", "xl's default", vm.At)
	vm.NUMA = vmconf.Setting{Why: "xl places a domain on nodes itself", At: vm.At}
	if s := d.settings["cpus"]; s != nil && !s.python {
		vm.Pinning = vmconf.Written("on", d.written(s.value), d.at(s.line))
		if !s.list && (s.text == "all" || s.text == "") {
			vm.Pinning.Value = "off"
		}
		if !s.list && strings.Contains(s.text, "node") {
			vm.NUMA = vmconf.Written("on", d.written(s.value), d.at(s.line))
		}
	}
	if s := d.settings["vnuma"]; s != nil && s.list {
		vm.NUMA = vmconf.Written("on", d.written(s.value), d.at(s.line))
	}
}

// memory reads memory and maxmem, MiB. What maxmem is above memory starts in the balloon.
func (d *Document) memory() {
	const mebibyte, most = 1 << 20, 1 << 40
	vm := &d.vm
	now, memory, ok := d.number("memory")
	full, maxmem, hasMax := d.number("maxmem")
	vm.Hugepages = vmconf.Setting{Why: "Xen chooses the size of pages itself", At: vm.At}
	switch {
	case ok && now >= 0 && now < most:
		vm.Memory = vmconf.Written(strconv.FormatInt(now*mebibyte, 10), memory.text, d.at(memory.line))
	case d.settings["memory"] != nil: // not readable
		vm.Memory = vmconf.Setting{At: d.at(d.settings["memory"].line)}
	case hasMax && full >= 0 && full < most:
		vm.Memory = vmconf.Default(strconv.FormatInt(full*mebibyte, 10), "as maxmem", d.at(maxmem.line))
	default:
		vm.Memory = vmconf.Default(strconv.Itoa(32*mebibyte), "libxl's default", vm.At)
	}
	vm.Balloon = vmconf.Default("off", "maxmem is not above memory", vm.At)
	if hasMax {
		vm.Balloon = vmconf.Written("off", maxmem.text, d.at(maxmem.line))
		if ok && full > now {
			vm.Balloon.Value = "on"
		}
	}
}

// channels looks for the channel of QEMU's guest agent.
func (d *Document) channels() {
	d.vm.Agent = vmconf.Default("off", "xl's default", d.vm.At)
	for _, v := range d.items("channel") {
		if strings.Contains(v.text, "org.qemu.guest_agent") {
			d.vm.Agent = vmconf.Written("on", v.text, d.at(v.tok.line))
		}
	}
}

var pciAddress = regexp.MustCompile(`^(?:([0-9a-fA-F]{1,4}):)?([0-9a-fA-F]{1,2}:[0-9a-fA-F]{1,2}\.[0-7*])`)

// passthrough reads host devices: "0000:01:1a.1", "usb:1.3" (bus and address), "usb:046d:c31c".
func (d *Document) passthrough() {
	add := func(v value, address string) {
		d.vm.Passthrough = append(d.vm.Passthrough, vmconf.Written(address, v.text, d.at(v.tok.line)))
	}
	for _, v := range d.items("pci") {
		text := v.text
		if _, bdf, ok := strings.Cut(text, "bdf="); ok {
			text = bdf
		}
		if m := pciAddress.FindStringSubmatch(strings.TrimSpace(text)); m != nil {
			add(v, strings.ToLower(strings.Repeat("0", 4-len(m[1]))+m[1]+":"+m[2]))
		} else if !v.python || v.text != "" {
			d.say(v.tok.line, "pci: "+v.text)
		}
	}
	for _, v := range d.items("dtdev") {
		add(v, v.text)
	}
	for _, v := range d.items("usbdev") {
		bus, addr := field(v.text, "hostbus"), field(v.text, "hostaddr")
		if bus != "" && addr != "" {
			add(v, "usb:"+bus+"."+addr)
		}
	}
	for _, v := range d.items("usbdevice") {
		if id, ok := strings.CutPrefix(v.text, "host:"); ok {
			add(v, "usb:"+id)
		}
	}
}

// field is the value of a key in "key=value,key=value".
func field(text, key string) string {
	for part := range strings.SplitSeq(text, ",") {
		if k, v, _ := strings.Cut(strings.TrimSpace(part), "="); k == key {
			return v
		}
	}
	return ""
}

// number reads a number, of any base that C has, in quotes or not. xl steps over what is none.
func (d *Document) number(key string) (int64, *setting, bool) {
	s, ok := d.single(key)
	if !ok {
		return 0, nil, false
	}
	n, err := strconv.ParseInt(strings.TrimLeft(s.text, " \t"), 0, 64)
	if err != nil || strings.Contains(s.text, "_") {
		d.refuse(s, key)
		return 0, nil, false
	}
	return n, s, true
}

// refuse tells of a setting that xl cannot take.
func (d *Document) refuse(s *setting, key string) {
	d.say(s.line, key+" = "+d.written(s.value))
}
