package qemuargs

import (
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/qemuargs/optstr"
	"github.com/iotax/iotax/internal/vmconf/qemuargs/words"
)

// option is one option of QEMU with its value.
type option struct {
	name  string     // "drive", without its dashes; "" for a disk image that stands alone
	word  words.Word // "-drive"
	value words.Word
	has   bool // a value
	set   optstr.Options
	bad   error // what is wrong with its JSON
	at    vmconf.Place
}

// implied are the options whose values are keys, with the key of a first part that has none.
var implied = map[string]string{
	"drive": "", "device": "driver", "blockdev": "driver", "object": "qom-type", "machine": "type", "M": "type",
	"accel": "accel", "smp": "cpus", "m": "size", "name": "guest", "chardev": "backend", "global": "", "rtc": "",
	"export": "type", "overcommit": "", "numa": "type", "cpu": "model", "nbd-server": "", "mon": "chardev", "netdev": "type",
	"boot": "order", "fsdev": "fsdriver", "virtfs": "fsdriver", "spice": "", "sandbox": "enable", "tpmdev": "type",
}

// alone are the options without a value.
var alone = set(`S s daemonize nographic nodefaults no-user-config nodefconfig no-shutdown no-reboot enable-kvm no-kvm snapshot usb
	no-hpet no-acpi full-screen h help version no-fd-bootchk curses sdl mem-prealloc rtc-td-hack win2k-hack singlestep
	old-param semihosting no-kvm-irqchip no-kvm-pit no-kvm-pit-reinjection no-quit alt-grab ctrl-grab no-frame portrait
	show-cursor localtime std-vga preconfig only-migratable enable-fips enable-sync-profile xen-attach xen-create tdf
	no-audio one-insn-per-tb enable-nesting writeconfig-none cet`)

// takers are options with a value; with alone they are what tells QEMU's command line from others.
var takers = set(`drive device blockdev object machine M accel cpu smp m mem-path name hda hdb hdc hdd cdrom fda fdb sd pflash
	mtdblock chardev mon monitor qmp qmp-pretty netdev net nic netdev-add vga display vnc spice boot global readconfig set
	kernel append initrd dtb bios serial parallel rtc uuid numa smbios tpmdev fsdev virtfs add-fd overcommit realtime
	sandbox msg icount watchdog watchdog-action action audiodev audio soundhw k L pidfile runas chroot incoming trace D d
	debugcon fw_cfg acpitable balloon usbdevice iscsi id loadvm option-rom plugin seed prom-env semihosting-config
	virtioconsole xen-domid tb-size bt echr show-cursor-none gdb compat export nbd-server monitor-none writeconfig
	dfilter rotate g parallel debugcon shim`)

// disks are the options that make or describe disks.
var diskOptions = set("drive device blockdev hda hdb hdc hdd cdrom fda fdb sd mtdblock usbdevice")

func set(names string) map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(names) {
		m[n] = true
	}
	return m
}

// optionName returns the name of an option, "" for any other word.
func optionName(s string) string {
	if len(s) < 2 || s[0] != '-' {
		return ""
	}
	return strings.TrimPrefix(s[1:], "-")
}

func takesValue(s string) bool {
	return takers[optionName(s)]
}

func known(s string) bool {
	n, _, _ := strings.Cut(optionName(s), "=")
	return takers[n] || alone[n]
}

// options splits arguments into options. What is none of QEMU's is said in unknown.
func (g *guest) options(args []words.Word) {
	for i := 0; i < len(args); i++ {
		w := args[i]
		name := optionName(w.Text)
		o := &option{name: name, word: w, at: g.place(w.Start)}
		switch {
		case name == "" && len(w.Open()) == 1 && w.Open()[0] == w.Text:
			g.unknown(w.Text+": what it holds is not known here, it may be more options", w.Start)
			g.more = w.Text
			continue
		case name == "":
			o.value, o.has = w, true
		case strings.Contains(name, "=") && strings.HasPrefix(w.Text, "--"): // the storage daemon's
			cut := strings.IndexByte(w.Text, '=')
			o.name, o.value, o.has = name[:cut-2], w.Sub(cut+1), true
		case alone[name]:
		case i+1 < len(args) && (takers[name] || optionName(args[i+1].Text) == ""):
			i++
			o.value, o.has = args[i], true
		case takers[name]:
			g.unknown(w.Text+": its value is missing", w.Start)
		}
		if !takers[o.name] && !alone[o.name] && o.name != "" {
			g.unknown(strings.TrimSpace(w.Text+" "+o.value.Text), w.Start)
		}
		g.read(o)
		g.opts = append(g.opts, o)
	}
}

// read reads the keys of an option.
func (g *guest) read(o *option) {
	first, keyed := implied[o.name]
	if !o.has || !keyed {
		return
	}
	o.set, o.bad = optstr.Read(o.value.Text, first, o.value.OpenBytes())
	if o.bad != nil {
		g.unknown(o.word.Text+": "+o.bad.Error(), o.word.Start)
	}
	for _, v := range o.set.Loose {
		g.unknown(o.word.Text+": "+v+" is not known here, it may set more", o.word.Start)
	}
}

// all returns the options of any of the names, in their order.
func (g *guest) all(names ...string) []*option {
	var out []*option
	for _, o := range g.opts {
		for _, n := range names {
			if o.name == n && o.has {
				out = append(out, o)
			}
		}
	}
	return out
}

// has reports whether an option without a value is there.
func (g *guest) has(name string) bool {
	for _, o := range g.opts {
		if o.name == name {
			return true
		}
	}
	return false
}
