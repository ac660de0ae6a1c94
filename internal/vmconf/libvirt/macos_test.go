package libvirt_test

import (
	"fmt"
	"testing"

	"github.com/iotax/iotax/internal/vmconf"
)

// TestMacOS tells it by the controller of a Mac, which libvirt has no words for, whatever else the metadata or Hyper-V's
// interfaces say.
func TestMacOS(t *testing.T) {
	const handed = "<qemu:commandline xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'><qemu:arg value='-device'/><qemu:arg value='%s'/></qemu:commandline>"
	for device, want := range map[string]string{"isa-applesmc,osk=x": "macos", "ich9-intel-hda": "Hyper-V's interfaces are on"} {
		vm := one(t, "q35", "<features><hyperv/></features>"+fmt.Sprintf(handed, device), "<disk><target dev='sda'/></disk>")
		if vm.GuestDetail != want || (want == "macos") != (vm.Guest == vmconf.Other) {
			t.Errorf("%s: %s, %s", device, vm.Guest, vm.GuestDetail)
		}
	}
}
