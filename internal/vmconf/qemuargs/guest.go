package qemuargs

import (
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/qemuargs/optstr"
	"github.com/iotax/iotax/internal/vmconf/qemuargs/words"
)

// guest is one start of a QEMU, read.
type guest struct {
	doc         *Document
	index       int // in doc.guests
	start       start
	opts        []*option
	more        string // a word that may be more options: "$EXTRA"
	globals     []global
	version     vmconf.Version // of the machine type; zero for "the newest that this QEMU has"
	nodes       map[string]*node
	drives      map[string]*node // roots, by the drives' ids
	driveList   []*drive
	controllers []*controller
	disks       []*disk // beside vm.Disks
	vm          vmconf.VM
}

// global is a default that -global changes.
type global struct {
	driver, property string
	pair             optstr.Pair
	o                *option
}

func newGuest(d *Document, s start) *guest {
	g := &guest{doc: d, index: len(d.guests), start: s, nodes: map[string]*node{}, drives: map[string]*node{}}
	g.vm = vmconf.VM{Kind: vmconf.QEMU, At: g.place(s.at), QEMU: s.qemu, Disks: []vmconf.Disk{}}
	g.options(s.args)
	g.sets()
	g.readGlobals()
	g.machine()
	g.graph()
	g.readControllers()
	g.readDisks()
	g.unusual()
	return g
}

func (g *guest) place(offset int) vmconf.Place {
	return vmconf.Place{File: g.doc.name, Line: g.doc.text.Line(offset)}
}

func (g *guest) unknown(text string, offset int) {
	g.vm.Unknown = append(g.vm.Unknown, vmconf.Unknown{Text: shorten(text), At: g.place(offset)})
}

// sets applies -set GROUP.ID.KEY=VALUE to the option that it changes.
func (g *guest) sets() {
	for _, s := range g.all("set") {
		key, value, ok := strings.Cut(s.value.Text, "=")
		parts := strings.SplitN(key, ".", 3)
		done := false
		for _, o := range g.opts {
			if ok && len(parts) == 3 && o.name == parts[0] && o.set.Value("id") == parts[1] {
				p := optstr.Pair{Key: parts[2], Value: value, ReadOnly: true}
				o.set.Pairs = append(o.set.Pairs, p)
				done = true
			}
		}
		if !done {
			g.unknown("-set "+s.value.Text, s.word.Start)
		}
	}
}

// readGlobals reads -global DRIVER.PROPERTY=VALUE and its long form.
func (g *guest) readGlobals() {
	for _, o := range g.all("global") {
		if driver := o.set.Value("driver"); driver != "" {
			v, _ := o.set.Get("value")
			g.globals = append(g.globals, global{driver, o.set.Value("property"), v, o})
			continue
		}
		if len(o.set.Pairs) == 1 {
			p := o.set.Pairs[0]
			if i := strings.LastIndexByte(p.Key, '.'); i > 0 {
				g.globals = append(g.globals, global{p.Key[:i], p.Key[i+1:], p, o})
				continue
			}
		}
		g.unknown("-global "+o.value.Text, o.word.Start)
	}
}

// property returns what a device has of a property: its own, or what -global gives to its kind.
func (g *guest) property(dev *option, driver string, names ...string) (optstr.Pair, *option, bool) {
	if dev != nil {
		if p, ok := dev.set.Get(names...); ok {
			return p, dev, true
		}
	}
	family := base(driver)
	for i := len(g.globals) - 1; i >= 0; i-- {
		gl := g.globals[i]
		of := gl.driver == driver || gl.driver == family || gl.driver == family+"-device" || gl.driver == family+"-pci" ||
			gl.driver == "scsi-disk" && strings.HasPrefix(driver, "scsi-")
		for _, n := range names {
			if of && strings.ReplaceAll(gl.property, "_", "-") == strings.ReplaceAll(n, "_", "-") {
				return gl.pair, gl.o, true
			}
		}
	}
	return optstr.Pair{}, nil, false
}

// setting is a property as it is written, or its default with the reason for it.
func (g *guest) setting(dev *option, driver string, def, why string, names ...string) vmconf.Setting {
	p, o, ok := g.property(dev, driver, names...)
	if !ok {
		return g.unset(dev, def, why)
	}
	s := g.written(o, p, p.Value)
	if o != dev && s.Value != "" {
		s.Why = "-global"
	}
	return s
}

// unset is a setting that is not written in an option, whose default is not known where a part of the option is not.
func (g *guest) unset(o *option, value, why string) vmconf.Setting {
	at := g.vm.At
	if o != nil {
		at = o.at
		if len(o.set.Loose) > 0 {
			return vmconf.Default("", o.set.Loose[0]+" may set it, and is not known here", at)
		}
	}
	return vmconf.Default(value, why, at)
}

// written is a setting that a pair of an option sets, with the value that it has in effect.
func (g *guest) written(o *option, p optstr.Pair, value string) vmconf.Setting {
	s := vmconf.Written(value, p.Value, o.at)
	if p.From > 0 && !p.ReadOnly && p.From <= len(o.value.Text) {
		s.At = g.place(offset(o.value, p.From))
	}
	if open := openIn(o.value, p.From, p.To); open != "" {
		s.Value, s.Why = "", open+" is not known here"
	}
	return s
}

// offset returns where a byte of a word stands in the text.
func offset(w words.Word, i int) int {
	for _, p := range w.Pieces {
		if i < len(p.Text) {
			if p.End-p.Start == len(p.Text) {
				return p.Start + i
			}
			return p.Start
		}
		i -= len(p.Text)
	}
	return w.Start
}

// openIn returns the first thing among the bytes of a word that is not known.
func openIn(w words.Word, from, to int) string {
	at := 0
	for _, p := range w.Pieces {
		if at < to && at+len(p.Text) > from && p.Unknown() {
			return p.Text
		}
		at += len(p.Text)
	}
	return ""
}

// base returns a device's name without what it is connected with: "virtio-blk" of "virtio-blk-pci-non-transitional".
func base(driver string) string {
	for _, s := range []string{"-non-transitional", "-transitional"} {
		driver = strings.TrimSuffix(driver, s)
	}
	for _, s := range []string{"-pci", "-ccw", "-device"} {
		if d := strings.TrimSuffix(driver, s); d != driver && d != "vfio" {
			return d
		}
	}
	return driver
}

// isOn reports whether a value is one of the words for yes.
func isOn(v string) bool { return v == "on" || v == "yes" || v == "true" || v == "y" || v == "1" }
