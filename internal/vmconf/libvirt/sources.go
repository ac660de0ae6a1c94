package libvirt

import (
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// kinds of sources: libvirt's word, ours, and the attribute that says where the bytes are.
var sourceKinds = map[string]struct{ backend, attr string }{
	"file": {"file", "file"}, "block": {"block", "dev"}, "dir": {"dir", "dir"}, "volume": {"pool", "volume"},
	"network": {"network", "name"}, "nvme": {"nvme", ""}, "vhostuser": {"vhost-user", "path"}, "vhostvdpa": {"vhost-vdpa", "dev"},
}

// source reads where the bytes are, and the backing files that are named.
func (m *machine) source(d *disk) {
	kind := d.el.get("type")
	if kind == "" {
		kind = "file"
	}
	e := d.el.kid("source")
	value, a := where(kind, e)
	d.is.Backend = sourceKinds[kind].backend
	d.is.Source = vmconf.Default("", "no medium", d.is.At)
	switch {
	case value == "" && kind != "nvme":
		if d.is.Backend != "" {
			d.is.Backend = "none"
		}
	case a != nil:
		d.is.Source = m.written(a, value)
	default:
		d.is.Source = m.element(e, value)
	}
	d.is.Pool = e.get("pool")
	if slice := e.kid("slices", "slice"); slice != nil {
		if n, ok := size(slice.get("size"), "", 1); ok {
			d.is.Size = n
		}
	}
	for b := d.el.kid("backingStore"); b != nil; b = b.kid("backingStore") {
		if value, _ := where(b.get("type"), b.kid("source")); value != "" {
			d.is.Backing = append(d.is.Backing, value)
		}
	}
}

// where is the path or address of a source and the attribute that it comes from: "/dev/vg/lv", "pool/volume",
// "rbd:pool/image", "0000:01:00.0 namespace 1".
func where(kind string, e *element) (string, *attr) {
	if e == nil {
		return "", nil
	}
	a := e.attr(sourceKinds[kind].attr)
	switch kind {
	case "nvme":
		return pciAddress(e.kid("address")) + " namespace " + e.get("namespace"), nil
	case "volume":
		if a != nil {
			return e.get("pool") + "/" + a.value, a
		}
	case "network":
		return network(e), nil
	}
	if a == nil { // the attribute of another kind is better than none: libvirt reports it, and we must not lose it
		for _, name := range []string{"file", "dev", "dir", "name", "path", "volume"} {
			if a = e.attr(name); a != nil {
				break
			}
		}
	}
	if a == nil {
		return "", nil
	}
	return a.value, a
}

// network is the address of a source on a network: "nbd://host:10809/export", "rbd:pool/image" with its monitors left out.
func network(e *element) string {
	protocol, name := e.get("protocol"), e.get("name")
	if protocol == "rbd" {
		return "rbd:" + name
	}
	host := e.kid("host")
	at := host.get("name")
	if port := host.get("port"); port != "" {
		at += ":" + port
	}
	if socket := host.get("socket"); socket != "" {
		at = socket
	}
	if protocol == "" && name == "" && at == "" {
		return ""
	}
	if name != "" && !strings.HasPrefix(name, "/") {
		name = "/" + name
	}
	return protocol + "://" + at + name
}
