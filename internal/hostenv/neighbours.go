package hostenv

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Neighbour is another virtual machine that runs on this host.
type Neighbour struct {
	Program string // its VMM's: "qemu-system-x86_64"
	Name    string // "" when its command line does not give one
	PID     int
}

// String names the machine for a person.
func (n Neighbour) String() string {
	if n.Name == "" {
		return fmt.Sprintf("a virtual machine without a name (%s, process %d)", n.Program, n.PID)
	}
	return fmt.Sprintf("%s (%s, process %d)", n.Name, n.Program, n.PID)
}

// vmms are the programs that each run one virtual machine, with the argument that names it.
var vmms = map[string]string{
	"qemu-kvm": "-name", "kvm": "-name", "qemu-dm": "-name", "xen-qemu": "-name",
	"VBoxHeadless": "--comment", "VirtualBoxVM": "--comment",
	"firecracker": "--id", "crosvm": "--name",
	"cloud-hypervisor": "", "vmware-vmx": "",
}

// Neighbours lists the virtual machines that run here, in order of process, without the processes given.
func (h Host) Neighbours(except ...int) ([]Neighbour, error) {
	proc, err := h.procfs()
	if err != nil {
		return nil, err
	}
	processes, err := proc.AllProcs()
	if err != nil {
		return nil, err
	}
	var found []Neighbour
	for _, p := range processes {
		argv, err := p.CmdLine()
		if err != nil || len(argv) == 0 || slices.Contains(except, p.PID) {
			continue // ended meanwhile, or a thread of the kernel such as kvm-nx-lpage
		}
		if n, ok := neighbour(argv); ok {
			n.PID = p.PID
			found = append(found, n)
		}
	}
	slices.SortFunc(found, func(a, b Neighbour) int { return a.PID - b.PID })
	return found, nil
}

// neighbour tells from a command line whether it is a virtual machine's.
func neighbour(argv []string) (Neighbour, bool) {
	program := filepath.Base(argv[0])
	flag, ok := vmms[program]
	if strings.HasPrefix(program, "qemu-system-") {
		flag, ok = "-name", true
	}
	if !ok {
		return Neighbour{}, false
	}
	return Neighbour{Program: program, Name: guestName(argv, flag)}, true
}

// guestName reads "-name foo", "-name guest=foo,debug-threads=on", "--id foo" or "--id=foo".
func guestName(argv []string, flag string) string {
	for i, arg := range argv {
		name, value, joined := strings.Cut(arg, "=")
		// QEMU takes two dashes where it documents one.
		if flag == "" || (name != flag && name != "-"+flag) {
			continue
		}
		if !joined && i+1 < len(argv) {
			value = argv[i+1]
		}
		if flag != "-name" {
			return value
		}
		for field := range strings.SplitSeq(value, ",") {
			if key, rest, ok := strings.Cut(field, "="); !ok {
				return field
			} else if key == "guest" {
				return rest
			}
		}
	}
	return ""
}
