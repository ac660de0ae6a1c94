package pve

import (
	"fmt"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// places are the drive that a bus needs and, for SCSI, the kind of controller.
var places = map[string]struct{ bus, scsihw string }{
	vmconf.VirtioBlk:  {"virtio", ""},
	vmconf.VirtioSCSI: {"scsi", single},
	vmconf.LSI:        {"scsi", "lsi"},
	vmconf.MegaSAS:    {"scsi", "megasas"},
	vmconf.PVSCSI:     {"scsi", "pvscsi"},
	vmconf.IDE:        {"ide", ""},
	vmconf.SATA:       {"sata", ""},
}

// moveDrive puts a drive on another bus: its line gets another key, loses what that bus cannot have, and the order of boot
// follows. A kind of SCSI controller is of all SCSI disks.
func (e *editor) moveDrive(l *line, s slot, bus string) {
	to, ok := places[bus]
	media, _ := parseProperties(l.value, "file").get("media")
	switch {
	case e.section.kind == pendingSection:
		e.fault("%s: a disk is moved in the current section, not in pending changes", l.key)
		return
	case !ok:
		e.fault("%s: Proxmox VE has no disks on %q", l.key, bus)
		return
	case media == "cdrom" || l.key == "cdrom":
		e.fault("%s: a CD-ROM drive is not moved", l.key)
		return
	}
	if hw, _ := e.now("scsihw"); to.scsihw != "" && adapters[or(hw, "lsi")].bus != bus {
		e.set("scsihw", to.scsihw)
	}
	if s.bus == to.bus {
		return
	}
	key := e.free(to.bus)
	if key == "" {
		e.fault("%s: there is no room left on %s", l.key, to.bus)
		return
	}
	old := l.key
	e.rename(l, key)
	e.moved[old] = key
	l.value = parseProperties(l.value, "file").without(func(p string) bool { return allowed(s.bus, p) && !allowed(to.bus, p) }).String()
	e.boot(old, key)
}

// free is the first free key of a bus, "" when there is none.
func (e *editor) free(bus string) string {
	taken := map[string]bool{}
	for _, s := range e.doc.sections {
		if s.kind == currentSection || s.kind == pendingSection {
			for _, o := range s.entries {
				taken[o.key] = true
			}
		}
	}
	for i := range slots[bus] {
		key := fmt.Sprintf("%s%d", bus, i)
		if !taken[key] && e.lines[key] == nil {
			return key
		}
	}
	return ""
}

// boot names a moved drive anew in the order of boot.
func (e *editor) boot(old, key string) {
	if l := e.lines["bootdisk"]; l != nil && l.value == old {
		l.value = key
	}
	l := e.lines["boot"]
	if l == nil {
		return
	}
	props := parseProperties(l.value, "legacy")
	order, ok := props.get("order")
	if !ok {
		return
	}
	devices := strings.Split(order, ";")
	for i, d := range devices {
		if strings.TrimSpace(d) == old {
			devices[i] = key
		}
	}
	if now := strings.Join(devices, ";"); now != order {
		l.value = props.with("order", now).String()
	}
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
