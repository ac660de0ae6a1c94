package qmp

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPCIAddresses(t *testing.T) {
	c := connect(t, func(p *peer) {
		r := p.hear()
		if r.Execute != "query-pci" {
			t.Errorf("asked %s", r.Execute)
		}
		p.say(`{"return": [{"bus": 0, "devices": [`+
			`{"bus": 0, "slot": 0, "function": 0, "qdev_id": ""},`+
			`{"bus": 0, "slot": 30, "function": 1, "qdev_id": "disk0"},`+
			`{"bus": 0, "slot": 2, "function": 0, "qdev_id": "bridge", "pci_bridge": {"bus": {"number": 0}, "devices": [`+
			`{"bus": 1, "slot": 4, "function": 0, "qdev_id": "disk1"}]}}]}], "id": %d}`, r.ID)
		p.say(`{"error": {"class": "GenericError", "desc": "no PCI"}, "id": %d}`, p.hear().ID)
	})
	got, err := c.PCIAddresses(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"disk0": "0000:00:1e.1", "bridge": "0000:00:02.0", "disk1": "0000:01:04.0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("PCIAddresses (-want +got):\n%s", diff)
	}
	if _, err := c.PCIAddresses(t.Context()); err == nil {
		t.Error("a refusal is no error")
	}
}
