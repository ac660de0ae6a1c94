package hostenv

import (
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/record"
)

// Device gives the facts of what Resolve found. Several disks are told together: their names joined by "+", each
// different model and scheduler once, rotational and a write-back cache when one of them has it.
func (h Host) Device(s Storage) record.Device {
	d := record.Device{Reason: s.Reason}
	var models, schedulers, caches []string
	for _, name := range s.Devices {
		models = appendNew(models, h.model(name))
		schedulers = appendNew(schedulers, chosen(h.read("sys/block", name, "queue/scheduler")))
		caches = appendNew(caches, h.read("sys/block", name, "queue/write_cache"))
		d.Rotational = d.Rotational || h.read("sys/block", name, "queue/rotational") == "1"
	}
	d.Name = strings.Join(s.Devices, "+")
	d.Model = strings.Join(models, "+")
	d.Scheduler = strings.Join(schedulers, "+")
	switch {
	case slices.Contains(caches, "write back"):
		d.WriteCache = "write back"
	case len(caches) > 0:
		d.WriteCache = caches[0]
	}
	return d
}

func (h Host) model(name string) string {
	if model := h.read("sys/block", name, "device/model"); model != "" {
		return model
	}
	if model := h.read("sys/block", name, "device/name"); model != "" { // MMC and SD cards
		return model
	}
	bus, _, _ := strings.Cut(h.read("sys/block", name, "device/modalias"), ":")
	switch bus {
	case "virtio":
		return "virtio disk"
	case "xen":
		return "Xen virtual disk"
	}
	return ""
}

// chosen is the word in brackets of a list of choices, the whole text where there are none.
func chosen(text string) string {
	if _, rest, found := strings.Cut(text, "["); found {
		word, _, _ := strings.Cut(rest, "]")
		return word
	}
	return text
}

func appendNew(list []string, text string) []string {
	if text == "" || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}
