package libvirt_test

import (
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/libvirt"
)

const small = "<domain><name>n</name><os><type machine='pc'/></os><devices>\n<disk><driver type='qcow2'/><source file='/a'/><target dev='sda' bus='sata'/></disk></devices></domain>"

// A machine is changed as a part of its document, though nothing else of that is read again.
func TestChangeInPlace(t *testing.T) {
	kvm := strings.Replace(small, "<domain>", "<domain type='kvm'>", 1)
	flat := "<domain type='kvm'>\r\n   <name>n</name>\r\n   <devices>\r\n   <console/>\r\n   </devices>\r\n   </domain>"
	for name, c := range map[string]struct {
		before, domain, after string
		change                vmconf.Change
		want                  string // the domain, or the fault
	}{
		"between others": {
			small + small, kvm, small, set("sda", vmconf.SetCache, "none"),
			strings.Replace(kvm, "<driver type='qcow2'/>", "<driver type='qcow2' cache='none'/>", 1),
		},
		"step and line ends of what is around": {
			"<list>\r\n   ", flat, "\r\n</list>", set("", vmconf.SetAgent, "on"),
			strings.Replace(flat, "<console/>", "<console/>\r\n   <channel type='unix'>\r\n      <target type='virtio' name='org.qemu.guest_agent.0'/>\r\n   </channel>", 1),
		},
		"nothing to do": {small, kvm, small, set("sda", vmconf.SetCache, "writeback"), kvm},
		"encoding": {
			"\n<?xml version='1.0' encoding='ISO-8859-1'?>", kvm, small, set("sda", vmconf.SetSource, "/é"),
			`x: n sda: source "/é": the change would break the document: x:2: encoding ISO-8859-1: only UTF-8 is read (iconv converts it)`,
		},
		"bytes": {
			"", kvm, "<!--" + strings.Repeat(" ", vmconf.MaxBytes-len(kvm)-7) + "-->", set("sda", vmconf.SetCache, "none"),
			`x: n sda: cache "none": the change would break the document: x: 16777229 bytes are no configuration; at most 16 MiB are read`,
		},
		"elements": {
			"\n\n<list>" + strings.Repeat("<a/>", 49_990), kvm, "</list>", set("", vmconf.SetAgent, "on"),
			`x: n: agent "on": the change would break the document: x:5: too many elements, or too deep in each other, for a configuration`,
		},
		"elements of all documents": {
			strings.Repeat("<a/>", 299_991), kvm, "", set("", vmconf.SetAgent, "on"),
			`x: n: agent "on": the change would break the document: x:3: too many elements, or too deep in each other, for a configuration`,
		},
		"depth": {
			strings.Repeat("<a>", 196), kvm, strings.Repeat("</a>", 196), set("sda", vmconf.SetL2CacheSize, "1048576"),
			`x: n sda: l2_cache_size "1048576": the change would break the document: x:2: too many elements, or too deep in each other, for a configuration`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := libvirt.Parse("x", []byte(c.before+c.domain+c.after))
			if err != nil {
				t.Fatal(err)
			}
			vm := strings.Count(c.before, "<domain")
			got, err := doc.Change(vm, []vmconf.Change{c.change})
			if err != nil {
				if err.Error() != c.want {
					t.Errorf("got  %v\nwant %s", err, c.want)
				}
				return
			}
			if want := c.before + c.want + c.after; string(got) != want {
				t.Errorf("got\n%.900s\nwant\n%.900s", got, want)
			}
		})
	}
}
