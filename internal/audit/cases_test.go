package audit

import (
	"maps"

	"github.com/iotax/iotax/internal/vmconf"
)

type edit = func(w *world)

// table is, by rule, what trips it and what nearly does.
type table map[string]struct{ trip, near []edit }

// cases are those of all rules.
var cases = func() table {
	all := table{}
	maps.Copy(all, frontCases)
	maps.Copy(all, storageCases)
	maps.Copy(all, restCases)
	return all
}()

// twin is another machine with the same disk.
func (w *world) twin(name string) {
	vm := *w.vm()
	vm.Name, vm.Disks = name, append([]vmconf.Disk(nil), vm.Disks...)
	w.vms = append(w.vms, vm)
}
