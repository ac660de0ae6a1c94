package analyse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/spec"
)

// advice says which stacks would tell apart the layers that stand together in the bill.
func (d *draft) advice() []string {
	var out []string
	for _, s := range d.steps {
		if s.split != nil && s.split.possible() {
			continue
		}
		out = append(out, d.apart(s)...)
	}
	return out
}

// apart says what would divide one step.
func (d *draft) apart(s *chainStep) []string {
	names := s.adds.names()
	if len(names) < 2 {
		return nil
	}
	var out []string
	like := func(what, settings string) {
		out = append(out, fmt.Sprintf("to tell %s from %s, add a stack like %s with %s", what, others(names, what), d.stack.Name, settings))
	}
	if s.adds.has(ImageLayer) {
		like(ImageLayer, "format raw")
	}
	if s.adds.has(FileSystem) {
		like(FileSystem, "format raw and bus host")
	}
	above := s.adds.has(Transport) || s.adds.has(GuestLayer)
	if s.adds.has(BlockLayer) && above {
		like(BlockLayer, d.outside())
	}
	if s.adds.has(Transport) && s.adds.has(GuestLayer) {
		if why := d.whyTogether(s); why != "" {
			out = append(out, why)
		}
	}
	return out
}

// outside is the settings of the same block layer without a guest.
func (d *draft) outside() string {
	if d.stack.Protocol != "" {
		return "bus host"
	}
	return "bus host and daemon qemu-img"
}

// whyTogether says what the transport and the guest need to be told apart: a disk of zero latency behind each.
func (d *draft) whyTogether(s *chainStep) string {
	if s.split != nil {
		if why := s.split.whyNot(); why != "" {
			return why
		}
	}
	have := d.have(d.stack.Name, d.workload)
	missing := func(match func(spec.Stack) bool) bool {
		return d.bestKnown(d.workload, func(o spec.Stack) bool {
			return match(o) && d.have(o.Name, d.workload)[GuestLayer] == have[GuestLayer]
		}) == nil
	}
	var need []string
	if missing(func(o spec.Stack) bool {
		return o.Ceiling() && d.have(o.Name, d.workload)[Transport] == have[Transport]
	}) {
		need = append(need, fmt.Sprintf("a stack like %s with format null-co", d.stack.Name))
	}
	if missing(spec.Stack.InsideGuest) {
		need = append(need, "one with bus null_blk")
	}
	switch {
	case len(need) > 0:
		return fmt.Sprintf("to tell %s from %s, add %s", Transport, GuestLayer, strings.Join(need, " and "))
	case !slices.Equal(s.adds.names(), aboveBlockLayer):
		return "" // they will be, once what stands with them is told apart
	}
	return fmt.Sprintf("%s and %s stand together: what the host's own load generator takes was not counted", Transport, GuestLayer)
}

// others lists the names but one: "image format + guest".
func others(names []string, but string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == but }), " + ")
}
