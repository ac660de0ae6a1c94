package analyse

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/unit"
)

// noLayer marks the settings of a stack that no I/O meets.
const noLayer = ""

// layerOfField says in which layer each setting of a stack takes part, by its word in an experiment. A few depend on
// others: see layerOf.
var layerOfField = map[string]string{
	"name": noLayer, "title": noLayer, "role": noLayer,

	"storage": FileSystem, "pool": FileSystem, "extent_size": FileSystem, "stripes": FileSystem, "lv_read_ahead": FileSystem,
	"chunk_size": FileSystem, "zeroing": FileSystem, "recordsize": FileSystem, "volblocksize": FileSystem, "compression": FileSystem,
	"primarycache": FileSystem, "sync": FileSystem, "snapshot": FileSystem, "empty": FileSystem,

	"format": ImageLayer, "preallocation": ImageLayer, "cluster_size": ImageLayer, "extended_l2": ImageLayer,
	"lazy_refcounts": ImageLayer, "l2_cache_size": ImageLayer, "backing_file": ImageLayer,

	"cache": BlockLayer, "aio": BlockLayer, "discard": BlockLayer, "detect_zeroes": BlockLayer, "protocol": BlockLayer, "daemon": BlockLayer,

	"iothread": Transport, "iothread_vq_mapping": Transport, "backend": Transport, "bus": Transport, "queues": Transport, "queue_size": Transport,

	"scheduler": GuestLayer, "read_ahead": GuestLayer, "machine": GuestLayer, "cpus": GuestLayer, "hugepages": GuestLayer,
	"memory_backend": GuestLayer, "pinning": GuestLayer, "hypervisor": GuestLayer,
}

// layerOf is the layer of a setting of this stack: a raw file is preallocated by its file system, a snapshot inside an
// image is the image's, and the server of a vhost-user disk stands in the controller's place.
func layerOf(field string, s spec.Stack) string {
	switch {
	case field == "preallocation" && s.Format != "qcow2":
		return FileSystem
	case field == "snapshot" && s.Format == "qcow2":
		return ImageLayer
	case field == "daemon" && s.VhostUser():
		return Transport
	}
	return layerOfField[field]
}

// bare are the settings that name a thing by themselves, in words that need no key beside them.
var bare = []string{"storage", "format", "bus", "protocol", "daemon", "hypervisor"}

// states is what a stack has in each layer, in the words of an experiment: "" is no such layer, as on the host. Two stacks
// are the same in a layer when their words are.
type states map[string]string

// statesOf spells out the layers of a stack under a load that writes, or that does not. Settings at their defaults are left
// out, but for the cache mode and the aio, without which a block layer says nothing.
func statesOf(exp spec.Experiment, s spec.Stack, writes bool) states {
	if s = plainly(exp, s); !writes && s.BlockLayer() {
		s.DetectZeroes = "off" // QEMU looks for zeroes in what is written
	}
	usual := plainly(exp, spec.Stack{
		Storage: s.Storage, Format: s.Format, Bus: s.Bus, Protocol: s.Protocol, Daemon: s.Daemon, Hypervisor: s.Hypervisor,
	})
	names, words := map[string][]string{}, map[string][]string{}
	for i, f := range reflect.VisibleFields(reflect.TypeFor[spec.Stack]()) {
		field, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		value, normal := reflect.ValueOf(s).Field(i), reflect.ValueOf(usual).Field(i)
		layer := layerOf(field, s)
		always := slices.Contains(bare, field) || field == "cache" || field == "aio"
		if field == "daemon" && s.Bench() {
			continue // the block layer is QEMU's, whoever runs it
		}
		switch {
		case layer == noLayer || value.IsZero() || !always && value.Equal(normal):
		case slices.Contains(bare, field):
			names[layer] = append(names[layer], value.String())
		default:
			words[layer] = append(words[layer], inWords(field, value))
		}
	}
	out := states{}
	for _, layer := range LayerNames {
		if all := append(names[layer], words[layer]...); len(all) > 0 {
			out[layer] = strings.Join(all, " ")
		}
	}
	return without(exp, s, out)
}

// inWords is one setting in words.
func inWords(field string, value reflect.Value) string {
	switch value.Kind() {
	case reflect.Bool:
		return field
	case reflect.Int64:
		return field + "=" + strings.ReplaceAll(unit.ExactBytes(value.Int()), " ", "")
	}
	return fmt.Sprintf("%s=%v", field, value)
}

// plainly is a stack with its defaults spelled out one way only, so that those who are the same look the same.
func plainly(exp spec.Experiment, s spec.Stack) spec.Stack {
	s = spec.Complete(spec.Experiment{Stacks: []spec.Stack{s}}).Stacks[0]
	if s.Daemon == "" {
		s.Daemon = s.Served()
	}
	if s.DetectZeroes != "unmap" {
		s.Discard = "" // it is about discards alone, and no load discards
	}
	if s.Format != "qcow2" && s.Preallocation == "off" {
		s.Preallocation = ""
	}
	g := exp.Guest
	if s.CPUs == g.CPUs {
		s.CPUs = 0
	}
	if s.Hugepages == g.Hugepages {
		s.Hugepages = 0
	}
	if s.MemoryBackend == g.MemoryBackend {
		s.MemoryBackend = ""
	}
	if s.Pinning == g.Pinning {
		s.Pinning = ""
	}
	return s
}

// without takes out the layers that are not there.
func without(exp spec.Experiment, s spec.Stack, have states) states {
	host := exp.HostStorage
	if host == "" {
		host = "file"
	}
	if have[FileSystem] == host { // nothing but the host's own
		delete(have, FileSystem)
	}
	if have[ImageLayer] == "raw" {
		delete(have, ImageLayer)
	}
	if !s.BlockLayer() || s.Served() == "spdk" {
		delete(have, BlockLayer)
	}
	switch {
	case s.OnHost():
		delete(have, Transport)
		delete(have, GuestLayer)
	case have[GuestLayer] == "":
		have[GuestLayer] = ordinary
	}
	if s.Ceiling() {
		delete(have, FileSystem)
		have[ImageLayer] = "no disk"
	}
	return have
}

// ordinary is a guest without a setting of its own.
const ordinary = "as all"
