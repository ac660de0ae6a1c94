package pve

import (
	"strings"

	"github.com/iotax/iotax/internal/sys"
	"github.com/iotax/iotax/internal/vmconf"
)

// QM returns the command that makes the same changes on a node of Proxmox VE, quoted for a shell: "qm set 100 --scsi0 ...".
// "VMID" stands for the VM's number where the file's name does not tell it. It fails as Change does; where there is nothing
// to change it is empty.
func (d *Document) QM(vm int, changes []vmconf.Change) (string, error) {
	e, err := d.edit(vm, changes)
	if err != nil {
		return "", err
	}
	args := []string{"qm", "set", or(vmID(d.file), "VMID")}
	none := len(args)
	var gone []string
	for _, l := range e.all {
		if f := l.from; f != nil && (l.gone || l.key != f.key) {
			gone = append(gone, f.key)
		}
		if l.changed() && !l.gone {
			args = append(args, "--"+l.key, l.value)
		}
	}
	if len(gone) > 0 {
		args = append(args, "--delete", strings.Join(gone, ","))
	}
	if len(args) == none {
		return "", nil
	}
	return sys.Quote(args), nil
}
