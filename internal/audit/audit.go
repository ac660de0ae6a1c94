package audit

import (
	"cmp"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// catalogue is in the order of the IDs; a test holds it to that.
var catalogue = slices.Concat(
	busRules, cacheRules, aioRules, iothreadRules, queueRules, imageRules,
	filesystemRules, lvmRules, deviceRules, memoryRules, guestRules, hostRules,
)

// Rules is the catalogue in the order of its IDs.
func Rules() []Rule { return slices.Clone(catalogue) }

// Find returns the rule of an ID, in any case of its letters.
func Find(id string) (Rule, bool) {
	i := slices.IndexFunc(catalogue, func(r Rule) bool { return strings.EqualFold(r.ID, id) })
	if i < 0 {
		return Rule{}, false
	}
	return catalogue[i], true
}

// Audit returns what the rules find: machine by machine in their order, the worst first, then by rule; what is found of the
// host comes last. Volumes are by the Source.Value of disks. Snapshots and what is pending are left out: nothing runs so.
func Audit(vms []vmconf.VM, h Host, volumes map[string]Volume) []Finding {
	a := gather(vms, h, volumes)
	var found []Finding
	for _, m := range a.machines {
		var of []Finding
		for _, r := range catalogue {
			of = append(of, r.on(m)...)
		}
		found = append(found, worstFirst(of)...)
	}
	var of []Finding
	for _, r := range catalogue {
		if r.host != nil {
			of = append(of, r.sign(r.host(a), Finding{Index: -1})...)
		}
	}
	return append(found, worstFirst(of)...)
}

// on looks at one machine.
func (r Rule) on(m *machine) []Finding {
	who := Finding{VM: cmp.Or(m.Name, m.ID), Part: m.Part, Index: m.index}
	var found []Finding
	if r.machine != nil {
		found = append(found, r.sign(r.machine(m), who)...)
	}
	if r.disk != nil {
		said := map[ofController]bool{}
		for _, d := range m.disks {
			who.Disk = d.ID
			for _, f := range r.disk(d) {
				if of, ok := d.ofController(f); ok && said[of] {
					continue
				} else if ok {
					said[of] = true
				}
				found = append(found, r.sign([]Finding{f}, who)...)
			}
		}
	}
	return found
}

// ofController is a setting of a controller.
type ofController struct{ controller, setting string }

// ofController reports whether a finding is about the controller of the disk, and holds for all others on it.
func (d disk) ofController(f Finding) (ofController, bool) {
	own := map[string]vmconf.Setting{"iothread": d.controller.IOThread, "queues": d.controller.Queues, "queue_size": d.controller.QueueSize}
	s, ok := own[f.Setting]
	return ofController{d.Controller, f.Setting}, ok && s.Value != "" && f.At == s.At && d.vm.Kind != vmconf.Proxmox
}

// sign says in each finding whose it is and what it is about.
func (r Rule) sign(found []Finding, who Finding) []Finding {
	for i := range found {
		f := &found[i]
		f.Rule, f.Severity, f.Restart = r.ID, r.Severity, r.Restart
		f.VM, f.Part, f.Index, f.Disk = who.VM, who.Part, who.Index, cmp.Or(f.Disk, who.Disk)
	}
	return found
}

func worstFirst(found []Finding) []Finding {
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	return found
}
