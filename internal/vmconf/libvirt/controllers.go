package libvirt

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// controller is one that disks hang on.
type controller struct {
	kind  string   // "scsi", "sata", "ide", "fdc"
	index int      // among those of its kind
	el    *element // nil: libvirt adds it
	is    vmconf.Controller
}

var driveKinds = []string{"scsi", "sata", "ide", "fdc"}

// scsiModels are libvirt's words for SCSI controllers, in QEMU's words, and the bus that each makes.
var scsiModels = map[string]struct{ device, bus string }{
	"virtio-scsi":             {"virtio-scsi", vmconf.VirtioSCSI},
	"virtio-transitional":     {"virtio-scsi-pci-transitional", vmconf.VirtioSCSI},
	"virtio-non-transitional": {"virtio-scsi-pci-non-transitional", vmconf.VirtioSCSI},
	"lsilogic":                {"lsi53c895a", vmconf.LSI},
	"lsisas1068":              {"mptsas1068", vmconf.OtherBus},
	"lsisas1078":              {"megasas", vmconf.MegaSAS},
	"vmpvscsi":                {"pvscsi", vmconf.PVSCSI},
	"ibmvscsi":                {"spapr-vscsi", vmconf.OtherBus},
	"am53c974":                {"am53c974", vmconf.OtherBus},
	"dc390":                   {"dc390", vmconf.OtherBus},
	"ncr53c90":                {"esp", vmconf.OtherBus},
	"buslogic":                {"buslogic", vmconf.OtherBus},
}

// readControllers reads those that are written; a controller without an index has the lowest free one of its kind.
func (m *machine) readControllers() {
	taken := map[string]bool{}
	var bare []*element
	for _, e := range m.all("controller") {
		kind := e.get("type")
		if !slices.Contains(driveKinds, kind) {
			continue
		}
		index := number(e.get("index"))
		if index < 0 {
			bare = append(bare, e)
			continue
		}
		taken[kind+strconv.Itoa(index)] = true
		m.addController(kind, index, e, m.at(e))
	}
	for _, e := range bare {
		kind, index := e.get("type"), 0
		for taken[kind+strconv.Itoa(index)] {
			index++
		}
		taken[kind+strconv.Itoa(index)] = true
		m.addController(kind, index, e, m.at(e))
	}
	m.sortControllers()
}

// sortControllers puts those that are written in the order of the configuration, and the others after them.
func (m *machine) sortControllers() {
	slices.SortStableFunc(m.ctls, func(a, b controller) int {
		if a.el == nil || b.el == nil {
			return 0
		}
		return cmp.Compare(a.el.start, b.el.start)
	})
	m.publishControllers()
}

func (m *machine) publishControllers() {
	m.vm.Controllers = nil
	for _, c := range m.ctls {
		m.vm.Controllers = append(m.vm.Controllers, c.is)
	}
}

func (m *machine) addController(kind string, index int, e *element, at vmconf.Place) *controller {
	c := controller{kind: kind, index: index, el: e}
	c.is = vmconf.Controller{ID: kind + strconv.Itoa(index), At: at}
	m.model(&c)
	if c.is.Bus == vmconf.VirtioSCSI {
		m.virtioSettings(e.kid("driver"), &c.is.IOThread, &c.is.Queues, &c.is.QueueSize, at)
	} else {
		why := "none on " + c.is.Bus
		c.is.IOThread = vmconf.Default("off", why, at)
		c.is.Queues, c.is.QueueSize = vmconf.Default("", why, at), vmconf.Default("", why, at)
	}
	m.ctls = append(m.ctls, c)
	return &m.ctls[len(m.ctls)-1]
}

// model is what a controller is, and which bus that makes.
func (m *machine) model(c *controller) {
	at := c.is.At
	switch c.kind {
	case "sata":
		c.is.Bus, c.is.Model = vmconf.SATA, m.attr(c.el, "model", "ich9-ahci", byLibvirt, at)
		return
	case "ide":
		c.is.Bus, c.is.Model = vmconf.IDE, m.attr(c.el, "model", "piix3-ide", byLibvirt, at)
		return
	case "fdc":
		c.is.Bus, c.is.Model = vmconf.Floppy, m.attr(c.el, "model", "isa-fdc", byLibvirt, at)
		return
	}
	model, why := m.defaultSCSI()
	set := vmconf.Default("", why, at)
	if a := c.el.attr("model"); a != nil && a.value != "auto" {
		model, set = a.value, m.written(a, "")
	}
	known, ok := scsiModels[model]
	if !ok {
		known.device, known.bus = model, vmconf.OtherBus
	}
	if model == "virtio-scsi" {
		known.device += "-" + m.transport()
	}
	set.Value = known.device
	c.is.Bus, c.is.Model = known.bus, set
}

// transport is what virtio devices are plugged into.
func (m *machine) transport() string {
	if strings.HasPrefix(m.arch, "s390") {
		return "ccw"
	}
	return "pci"
}

// defaultSCSI is the model of a SCSI controller whose model is not said.
func (m *machine) defaultSCSI() (model, why string) {
	machine := m.vm.Machine.Value
	switch {
	case strings.HasPrefix(machine, "pseries"):
		return "ibmvscsi", byLibvirt + " on pseries"
	case strings.HasPrefix(machine, "s390"), strings.HasPrefix(machine, "virt"):
		return "virtio-scsi", byLibvirt + " on " + m.arch
	case m.emulator() == "/usr/libexec/qemu-kvm":
		return "virtio-scsi", byLibvirt + " with Red Hat's QEMU, which has no LSI"
	}
	return "lsilogic", byLibvirt
}

// find is the controller with that kind and index; libvirt adds those that disks need.
func (m *machine) find(kind string, index int, at vmconf.Place) *controller {
	for i := range m.ctls {
		if m.ctls[i].kind == kind && m.ctls[i].index == index {
			return &m.ctls[i]
		}
	}
	return m.addController(kind, index, nil, at)
}

// virtioSettings reads what the <driver> of a virtio disk or controller says.
func (m *machine) virtioSettings(driver *element, thread, queues, depth *vmconf.Setting, at vmconf.Place) {
	if driver != nil {
		at = m.at(driver)
	}
	*thread = m.attr(driver, "iothread", "off", byLibvirt, at)
	if e := driver.kid("iothreads"); e != nil {
		*thread = m.element(e, "mapping")
	}
	n, why := m.vm.CPUs.Value, byQEMU+": one for each CPU"
	switch {
	case m.transport() == "ccw":
		n, why = "1", byQEMU+" on ccw"
	case m.version.Before(5, 2):
		n, why = "1", byQEMU+" for machines before 5.2"
	}
	*queues = m.attr(driver, "queues", n, why, at)
	n, why = "256", byQEMU
	if m.version.Before(5, 0) {
		n, why = "128", byQEMU+" for machines before 5.0"
	}
	*depth = m.attr(driver, "queue_size", n, why, at)
	if !m.qemu {
		for _, s := range []*vmconf.Setting{thread, queues, depth} {
			if !s.Set {
				*s = vmconf.Default("", notQEMU, at)
			}
		}
	}
}
