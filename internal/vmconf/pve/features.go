package pve

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// hugepages is "on" where the size of the pages is left to Proxmox VE, else their size in bytes.
func (c *conf) hugepages() vmconf.Setting {
	e, ok := c.find("hugepages")
	if !ok {
		return vmconf.Default("off", byDefault, c.start())
	}
	s := vmconf.Written("on", e.value, c.doc.at(e.line))
	if n, err := strconv.ParseInt(e.value, 10, 32); err == nil && n > 0 {
		s.Value = strconv.FormatInt(n*mebibyte, 10)
	} else if e.value != "any" {
		c.note(e, "neither a size of pages nor any")
		s.Value = ""
	}
	return s
}

// balloon is the device, which is there even where no target is set.
func (c *conf) balloon() vmconf.Setting {
	n, e, ok := c.number("balloon", 0)
	if !ok {
		return vmconf.Default("on", byDefault, c.start())
	}
	return vmconf.Written(vmconf.OnOff(n != 0), e.value, c.doc.at(e.line))
}

// agent is the channel of the guest agent.
func (c *conf) agent() vmconf.Setting {
	e, ok := c.find("agent")
	if !ok {
		return vmconf.Default("off", byDefault, c.start())
	}
	text, _ := parseProperties(e.value, "enabled").get("enabled")
	on, ok := parseBool(text)
	if !ok {
		c.note(e, "neither 0 nor 1")
		return vmconf.Setting{Set: true, Written: e.value, At: c.doc.at(e.line)}
	}
	return vmconf.Written(vmconf.OnOff(on), e.value, c.doc.at(e.line))
}

// pinning is of the whole process to the same CPUs: Proxmox VE ties no vCPU to one of its own.
func (c *conf) pinning() vmconf.Setting {
	e, ok := c.find("affinity")
	if !ok {
		return vmconf.Default("off", byDefault, c.start())
	}
	return vmconf.Written("on", e.value, c.doc.at(e.line))
}

var numaNode = regexp.MustCompile(`^numa[0-9]+$`)

// numa is on where memory is tied to nodes of the host. "numa: 1" alone gives nodes to the guest and ties none.
func (c *conf) numa() vmconf.Setting {
	on, e, set := c.flag("numa", false)
	s := vmconf.Default("off", byDefault, c.start())
	if set {
		s = vmconf.Written("off", e.value, c.doc.at(e.line))
	}
	if !on {
		return s
	}
	for _, n := range c.entries {
		if !numaNode.MatchString(n.key) {
			continue
		}
		if _, tied := parseProperties(n.value, "cpus").get("hostnodes"); tied {
			return vmconf.Written("on", n.value, c.doc.at(n.line))
		}
	}
	s.Why = "the guest has NUMA nodes, but none is tied to one of the host"
	return s
}

var (
	hostpci    = regexp.MustCompile(`^hostpci[0-9]+$`)
	pciAddress = regexp.MustCompile(`^([0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(\.[0-9a-fA-F])?$`)
)

// passthrough are the PCI devices of the host that the guest has: "0000:01:00.0", or "mapping NAME".
func (c *conf) passthrough() []vmconf.Setting {
	var list []vmconf.Setting
	for _, e := range c.entries {
		if !hostpci.MatchString(e.key) {
			continue
		}
		props := parseProperties(e.value, "host")
		if m, ok := props.get("mapping"); ok {
			list = append(list, vmconf.Written("mapping "+m, "mapping="+m, c.doc.at(e.line)))
			continue
		}
		host, _ := props.get("host")
		for _, address := range strings.Split(host, ";") {
			if !pciAddress.MatchString(address) {
				c.note(e, "%q is not the address of a PCI device", oneLine(address))
				continue
			}
			full := address
			if strings.Count(address, ":") == 1 {
				full = "0000:" + address
			}
			list = append(list, vmconf.Written(full, address, c.doc.at(e.line)))
		}
	}
	return list
}
