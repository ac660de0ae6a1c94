package libvirt

import (
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// limits are libvirt's words in QEMU's.
var limits = map[string]string{
	"total_bytes_sec": "bps-total", "read_bytes_sec": "bps-read", "write_bytes_sec": "bps-write",
	"total_iops_sec": "iops-total", "read_iops_sec": "iops-read", "write_iops_sec": "iops-write",
}

// throttle lists the limits of a disk's own and of the groups that it is in.
func (m *machine) throttle(e *element) []vmconf.Setting {
	list := m.limits(e.kid("iotune"))
	for _, filter := range e.kid("throttlefilters").all("throttlefilter") {
		list = append(list, m.groups[filter.get("group")]...)
	}
	return list
}

// limits lists the limits in an element that are not zero.
func (m *machine) limits(e *element) []vmconf.Setting {
	var list []vmconf.Setting
	for _, k := range kidsOf(e) {
		base, burst := strings.CutSuffix(k.name, "_max")
		name, ok := limits[base]
		if !ok || strings.Trim(k.text, "0") == "" {
			continue
		}
		if burst {
			name += "-max"
		}
		list = append(list, vmconf.Written(name+"="+k.text, k.name+"="+k.text, m.at(k)))
	}
	return list
}

// sharedThrottles gives the limits of a group to those of its disks that name only the group.
func (m *machine) sharedThrottles() {
	groups := map[string][]vmconf.Setting{}
	group := func(d disk) string { return text(d.el.kid("iotune", "group_name")) }
	for _, d := range m.disks {
		if name := group(d); name != "" && groups[name] == nil {
			groups[name] = d.is.Throttle
		}
	}
	for i, d := range m.disks {
		if len(d.is.Throttle) == 0 {
			m.disks[i].is.Throttle = slices.Clone(groups[group(d)])
		}
	}
}

// cgroupThrottles adds the limits that the host's kernel puts on the block device under a disk.
func (m *machine) cgroupThrottles() {
	for _, device := range m.dom.kid("blkiotune").all("device") {
		list := m.limits(device)
		for i := range m.disks {
			if d := &m.disks[i].is; d.Source.Value != "" && d.Source.Value == text(device.kid("path")) {
				d.Throttle = append(d.Throttle, list...)
				list = nil
			}
		}
		if list != nil {
			m.unknown(device.start, m.doc.data[device.start:device.end])
		}
	}
}
