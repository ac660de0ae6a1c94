package xl

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/vmconf"
)

// changeDisk makes one change in the specification of a disk.
func (d *Document) changeDisk(i int, c vmconf.Change) ([]splice, error) {
	e := editor{doc: d, disk: d.vm.Disks[i], diskOf: d.disks[i]}
	var err error
	switch c.Setting {
	case vmconf.SetCache, vmconf.SetAIO:
		err = e.direct(c)
	case vmconf.SetDiscard:
		err = e.discard(c.Value)
	case vmconf.SetBus:
		err = e.bus(i, c.Value)
	case vmconf.SetSource:
		err = e.source(c.Value)
	default:
		if c.Value != "" { // otherwise there is nothing that could be taken out
			err = errkind.Userf("xl has no setting for it; expected one of bus, cache, aio, discard, source")
		}
	}
	return e.splices, err
}

// editor changes the specification of one disk.
type editor struct {
	doc  *Document
	disk vmconf.Disk
	diskOf
	splices  []splice
	appended bool // the text has got another end
}

// direct is the one choice that xl has of how the host reads and writes: a disk that QEMU serves goes through dom0's
// page cache with threads or, with direct-io-safe, past it with native AIO.
func (e *editor) direct(c vmconf.Change) error {
	wish, err := want(c)
	switch {
	case err != nil:
		return err
	case c.Value == "":
		e.remove("direct-io-safe")
		return nil
	case e.disk.Bus.Value != vmconf.XenBlk:
		return errkind.Userf("xl leaves no choice on %s; change the bus to xen", e.disk.Bus.Value)
	case e.of("script") != "" || e.of("backend") != "":
		return errkind.Userf("a script or a driver domain serves the disk; change it there")
	case e.disk.Shared:
		return errkind.Userf("several guests share the disk; QEMU would not take it for them")
	}
	if e.disk.XenBackend.Value != qdisk {
		e.set("backendtype", qdisk)
	}
	if wish {
		e.add("direct-io-safe")
	} else {
		e.remove("direct-io-safe")
	}
	return nil
}

// want reports whether a wish for a cache or an AIO is one for direct I/O.
func want(c vmconf.Change) (bool, error) {
	switch {
	case c.Value == "":
		return false, nil
	case c.Setting == vmconf.SetCache && c.Value == "none", c.Setting == vmconf.SetAIO && c.Value == "native":
		return true, nil
	case c.Setting == vmconf.SetCache && c.Value == "writeback", c.Setting == vmconf.SetAIO && c.Value == "threads":
		return false, nil
	case c.Setting == vmconf.SetCache:
		return false, errkind.Userf("xl has no %q; expected none or writeback", c.Value)
	}
	return false, errkind.Userf("xl has no %q; expected native or threads", c.Value)
}

func (e *editor) discard(value string) error {
	flags := map[string]string{"unmap": "discard", "ignore": "no-discard", "": ""}
	flag, ok := flags[value]
	switch {
	case !ok:
		return errkind.Userf("xl has no %q; expected unmap or ignore", value)
	case value == "unmap" && e.disk.Bus.Value != vmconf.XenBlk:
		return errkind.Userf("a disk on %s takes no discards; change the bus to xen", e.disk.Bus.Value)
	}
	for _, f := range []string{"discard", "no-discard"} {
		if f != flag {
			e.remove(f)
		}
	}
	if flag != "" {
		e.add(flag)
	}
	return nil
}

// families are the beginnings of the names of virtual devices by the bus that they ask for.
var families = map[string]string{vmconf.XenBlk: "xvd", vmconf.IDE: "hd", vmconf.SATA: "hd", vmconf.LSI: "sd"}

func (e *editor) bus(i int, value string) error {
	family, ok := families[value]
	vdev, _ := e.get("vdev")
	parts := vdevName.FindStringSubmatch(vdev.value)
	isHVM := e.doc.vm.Machine.Value == hvm
	switch {
	case value == "":
		return errkind.Userf("a disk cannot be without one; expected xen, ide, sata or lsi")
	case !ok:
		return errkind.Userf("xl has no %q; expected xen, ide, sata or lsi", value)
	case value != vmconf.XenBlk && !isHVM:
		return errkind.Userf("only an HVM domain has emulated disks; expected xen")
	case e.cdrom() && isHVM:
		return errkind.Userf("xl puts every CD drive of an HVM domain on IDE")
	case parts == nil || parts[1] == "":
		return errkind.Userf("vdev %s has no letter that could be kept; change it by hand", vdev.value)
	}
	name := family + parts[2] + parts[3]
	for j, other := range e.doc.disks {
		if j != i && other.of("vdev") == name {
			return errkind.Userf("another disk is %s already; change its vdev by hand", name)
		}
	}
	e.splice(vdev.from, vdev.to, name)
	return nil
}

var (
	control  = regexp.MustCompile(`[\x00-\x1f\x7f]`)
	notPlain = regexp.MustCompile(`[,=]|^[ \t]|^[a-z][a-z0-9]*:`)
)

// source gives the disk another target. What cannot stand among the positional parameters moves to the end.
func (e *editor) source(value string) error {
	if value == "" || control.MatchString(value) {
		return errkind.Userf("%s is no target for xl; expected a path", strconv.Quote(value))
	}
	target, ok := e.get("target")
	plain := !notPlain.MatchString(value) && !slices.Contains(flags, value)
	if format, _ := e.get("format"); format.value == "empty" { // a drive without a medium
		if plain = plain && format.named; format.named {
			e.splice(format.from, format.to, "raw")
		} else if target.start == target.end { // ",hdc:cdrom,r": where the target stays empty, so may the format
			e.splice(target.to, target.to, ",")
		}
	}
	switch {
	case !ok:
		e.append("target=" + value)
	case target.named || plain:
		e.splice(target.from, target.to, value)
	default:
		e.splice(target.from, target.to, "")
		e.append("target=" + value)
	}
	return nil
}

// splice replaces text[from:to] of the specification, wherever its bytes stand in the file.
func (e *editor) splice(from, to int, text string) {
	var at []int
	quote := string(e.doc.data[e.tok.start])
	unquote(e.doc.data, e.tok, func(_ byte, i int) { at = append(at, i) })
	at = append(at, e.tok.end-1)
	text = strings.NewReplacer(`\`, `\\`, quote, `\`+quote).Replace(text)
	e.splices = append(e.splices, splice{at[from], at[to], text})
}

// set gives a named parameter a value.
func (e *editor) set(name, value string) {
	if p, ok := e.get(name); ok {
		e.splice(p.from, p.to, value)
		return
	}
	e.add(name + "=" + value)
}

// add puts a parameter where it is seen: before a target that has the rest to itself, otherwise at the end.
func (e *editor) add(word string) {
	if e.has(word) {
		return
	}
	if target, ok := e.get("target"); ok && target.named {
		e.splice(target.start, target.start, word+",")
		return
	}
	e.append(word)
}

func (e *editor) append(word string) {
	if text := e.spec.text; e.appended || text != "" && !strings.HasSuffix(text, ",") {
		word = "," + word
	}
	e.appended = true
	e.splice(len(e.spec.text), len(e.spec.text), word)
}

// remove takes a flag out, with one of the commas beside it.
func (e *editor) remove(flag string) {
	for _, p := range e.params {
		if p.name != flag || !p.named {
			continue
		}
		start, end, text := p.start, p.end, e.spec.text
		switch {
		case end < len(text): // a comma
			end++
		default:
			for start > 0 && strings.IndexByte(" \t\n", text[start-1]) >= 0 {
				start--
			}
			if start > 0 {
				start--
			}
		}
		e.splice(start, end, "")
	}
}
