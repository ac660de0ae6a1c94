// Package emit writes the configuration of a stack in the language of a hypervisor's manager: what somebody pastes to have
// the disk that was measured. It is pure, and refuses where the disk would be another than that.
package emit

import (
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/spec"
)

// Languages.
const (
	Libvirt = "libvirt"
	Proxmox = "proxmox"
	QEMU    = "qemu"
	XL      = "xl"
)

// Languages lists them.
var Languages = []string{Libvirt, Proxmox, QEMU, XL}

// Options are what a stack itself does not say.
type Options struct {
	Name     string     // of the machine, "" = the stack's
	Path     string     // file, block device or Proxmox VE's volume; "" = an example
	Size     int64      // bytes of the volume
	Guest    spec.Guest // the machine, as Experiment.GuestOf gives it
	Machine  string     // one of spec.Machines, "" = the stack's or the language's own choice
	Accel    string     // "kvm" or "tcg"
	DiskOnly bool       // the disk with its controller and iothreads, without the machine around it
}

// Config is one configuration.
type Config struct {
	As       string   `json:"as"`       // language
	Stack    string   `json:"stack"`    //
	Disk     string   `json:"disk"`     // path or volume; of an example too
	Text     string   `json:"text"`     // the configuration itself, without comments
	Args     []string `json:"args"`     // qemu: the argv that Text is
	Commands []string `json:"commands"` // lines of shell that make what Text relies on, and for Proxmox VE the one that sets the same
	Notes    []string `json:"notes"`    // what the language cannot say and the reader must know, one line each
}

// Make writes the stack's configuration in the language as. Errors are the user's, all at once: what the language cannot say
// and without which the disk would not be what was measured.
func Make(as string, s spec.Stack, o Options) (Config, error) {
	write := map[string]func(*emitter){Libvirt: (*emitter).libvirt, Proxmox: (*emitter).proxmox, QEMU: (*emitter).qemu, XL: (*emitter).xl}[as]
	if write == nil {
		return Config{}, errkind.Userf("no configuration is written as %q; expected one of %s", as, strings.Join(Languages, ", "))
	}
	e := emitter{Config: Config{As: as, Stack: s.Name, Args: []string{}, Commands: []string{}, Notes: []string{}}, s: s, o: o}
	e.fillOptions()
	if e.place(); len(e.faults) == 0 {
		e.create()
		write(&e)
		e.inGuest()
		if e.qm != "" {
			e.Commands = append(e.Commands, e.qm)
		}
	}
	return e.Config, e.faults.Err()
}

// emitter writes one configuration.
type emitter struct {
	Config
	s      spec.Stack
	o      Options
	vmid   string // Proxmox VE's number of the machine: the volume's, else an example
	qm     string // Proxmox VE's command that sets what Text says
	faults errkind.List
}

func (e *emitter) fillOptions() {
	if e.o.Name == "" {
		e.o.Name = e.s.Name
	}
	e.vmid = "100"
	if owner := ownerForm.FindStringSubmatch(e.o.Path); owner != nil {
		e.vmid = owner[1]
	}
	if e.s.Machine != "" {
		e.o.Machine = e.s.Machine
	}
	if e.s.Bus == "ide" && !e.s.Xen() {
		e.o.Machine = "pc"
	}
}

// refuse says why the language cannot give the disk that was measured.
func (e *emitter) refuse(format string, args ...any) {
	e.faults = append(e.faults, errkind.Userf("stack %s as %s: "+format, append([]any{e.s.Name, e.As}, args...)...))
}

func (e *emitter) note(line string) { e.Notes = append(e.Notes, line) }

// only refuses a stack of which one of the reasons holds, with all that hold.
func (e *emitter) only(reasons []reason) bool {
	for _, r := range reasons {
		if r.holds {
			e.refuse("%s", r.why)
		}
	}
	return len(e.faults) == 0
}

// reason is why a stack cannot be said.
type reason struct {
	holds bool
	why   string
}

// defaultQueueSize is QEMU's own for virtio, so that a language without such a setting says it too.
const defaultQueueSize = 256

func (e *emitter) ownQueueSize() bool {
	return e.s.QueueSize != 0 && e.s.QueueSize != defaultQueueSize
}

// virtioSCSI reports whether the stack's disk is behind virtio-scsi.
func (e *emitter) virtioSCSI() bool {
	return slices.Contains([]string{"virtio-scsi", "virtio-scsi-single"}, e.s.Bus)
}

// inGuest notes what of the stack is set inside the guest.
func (e *emitter) inGuest() {
	device := map[string]string{"virtio-blk": "vda", "vhost-user-blk": "vda", "nvme": "nvme0n1", "blkfront": "xvda"}[e.s.Bus]
	if device == "" {
		device = "sda"
	}
	queue := "/sys/block/" + device + "/queue/"
	if e.s.Scheduler != "" {
		e.note("inside the guest, as it was measured: echo " + e.s.Scheduler + " > " + queue + "scheduler")
	}
	if kib := readAheadKiB(e.s.ReadAhead); kib != "" {
		e.note("inside the guest, as it was measured: echo " + kib + " > " + queue + "read_ahead_kb")
	}
}
