package analyse

import (
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/stat"
)

// set is the layers whose first letters are given: s, i, q (QEMU's block layer), t and g.
func set(letters string) layers {
	var out layers
	for i, letter := range []string{"s", "i", "q", "t", "g"} {
		if strings.Contains(letters, letter) {
			out |= 1 << i
		}
	}
	return out
}

// linkOf is a node known within a factor of 1+half.
func linkOf(name, letters string, half float64) link {
	c := &cell{}
	c.Stack, c.Ratio = name, map[string]stat.Estimate{record.IOPS: {Value: 1, Low: 1 / (1 + half), High: 1 + half}}
	return link{&node{cell: c}, set(letters)}
}

func TestChain(t *testing.T) {
	for name, tt := range map[string]struct {
		stack   string // its layers
		between []link
		want    string
	}{
		"nothing else was measured": {"iqtg", nil, "host S"},
		"one in between":            {"iqtg", []link{linkOf("raw", "qtg", 0.1)}, "host raw S"},
		"the longest way":           {"siqtg", []link{linkOf("raw", "qtg", 0.1), linkOf("zvol", "s", 0.1), linkOf("bench", "q", 0.1), linkOf("bench-zvol", "sq", 0.1), linkOf("bench-qcow2", "siq", 0.1)}, "host zvol bench-zvol bench-qcow2 S"},
		"not by a way with a gap":   {"siqtg", []link{linkOf("zvol", "s", 0.1), linkOf("raw", "qtg", 0.1)}, "host zvol S"},
		"the better known of two":   {"iqtg", []link{linkOf("noisy", "q", 0.3), linkOf("quiet", "q", 0.1)}, "host quiet S"},
		"the better known way":      {"iqtg", []link{linkOf("image", "iq", 0.3), linkOf("bench", "q", 0.1), linkOf("raw", "qtg", 0.1)}, "host bench raw S"},
		"and the other way round":   {"iqtg", []link{linkOf("image", "iq", 0.1), linkOf("bench", "q", 0.1), linkOf("raw", "qtg", 0.3)}, "host bench image S"},
		"length before precision":   {"iqtg", []link{linkOf("bench", "q", 9), linkOf("raw", "qtg", 9), linkOf("lone", "i", 0.01)}, "host bench raw S"},
		"no interval at all":        {"iqtg", []link{linkOf("bench", "q", inf())}, "host bench S"},
		"twins of the ends":         {"iqtg", []link{linkOf("twin", "iqtg", 0.01), linkOf("plain", "", 0.01)}, "host S"},
	} {
		var got []string
		for _, l := range chain(linkOf("host", "", 0), linkOf("S", tt.stack, 0.1), tt.between) {
			got = append(got, l.Stack)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %s", name, got, tt.want)
		}
	}
}

// TestWithin: a node stands in the chain of a stack when each of its layers is the stack's, or absent as on the host.
func TestWithin(t *testing.T) {
	stack := states{ImageLayer: "qcow2", BlockLayer: "cache=none", Transport: "sata", GuestLayer: ordinary}
	for name, tt := range map[string]struct {
		node states
		has  string
		ok   bool
	}{
		"the same without the image": {states{BlockLayer: "cache=none", Transport: "sata", GuestLayer: ordinary}, "qtg", true},
		"another cache mode":         {states{BlockLayer: "cache=unsafe", Transport: "sata", GuestLayer: ordinary}, "", false},
		"a layer that S has not":     {states{FileSystem: "zvol", BlockLayer: "cache=none"}, "", false},
		"the host":                   {states{}, "", true},
	} {
		if has, ok := tt.node.within(stack); has != set(tt.has) || ok != tt.ok {
			t.Errorf("%s: %v %v", name, has.names(), ok)
		}
	}
}
