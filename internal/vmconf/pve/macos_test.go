package pve_test

import (
	"testing"

	"github.com/iotax/iotax/internal/vmconf/pve"
)

// TestMacOS tells it by the controller of a Mac: it has no ostype.
func TestMacOS(t *testing.T) {
	const smc = "args: -device isa-applesmc,osk=\"x\" -smbios type=2\n"
	for conf, want := range map[string]string{
		smc + "ostype: other\nsata0: a:b\n":                 "macos",
		smc + "sata0: a:b\nostype: l26\n":                   "l26",
		"args: -smbios type=2\nostype: other\nsata0: a:b\n": "other",
	} {
		d, err := pve.Parse("100.conf", []byte(conf), pve.Storage{})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.VMs()[0].GuestDetail; got != want {
			t.Errorf("%q: %s, want %s", conf, got, want)
		}
	}
}
