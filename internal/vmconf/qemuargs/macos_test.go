package qemuargs_test

import (
	"testing"

	"github.com/iotax/iotax/internal/vmconf"
)

// TestMacOS tells it by the controller of a Mac, even where Hyper-V's interfaces are on.
func TestMacOS(t *testing.T) {
	for more, want := range map[string]string{
		"-device isa-applesmc,osk=x":                           vmconf.Other,
		"-cpu host,hv_relaxed -device isa-applesmc,osk=x":      vmconf.Other,
		"-cpu host,hv_relaxed -device ich9-intel-hda":          vmconf.Windows,
		"-device ich9-intel-hda -kernel k -append root=/dev/a": vmconf.Linux,
	} {
		vm := parse(t, "x", []byte(q+"-hda a "+more)).VMs()[0]
		if vm.Guest != want || (want == vmconf.Other) != (vm.GuestDetail == "macos") {
			t.Errorf("%s: %s, %s", more, vm.Guest, vm.GuestDetail)
		}
	}
}
