// Package audit is a catalogue of rules that find settings of virtual machines, of what lies under their disks and of the
// host, which cost performance or put data at risk. It is pure: it is given what was read, and says nothing of what is not
// known.
package audit

import (
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/vmconf"
)

// Rule is one entry of the catalogue. It looks at one thing, in one of three scopes.
type Rule struct {
	ID       string   `json:"id"`      // "IOT001"; never given to another rule
	Title    string   `json:"title"`   // the finding in a few words
	Looks    string   `json:"looks"`   // what it looks for, and what it leaves alone
	Why      string   `json:"why"`     // why that is bad
	Sources  []string `json:"sources"` // addresses and documents
	Severity Severity `json:"severity"`
	Guests   string   `json:"guests"` // which guests can take the change, and what they need
	Restart  Restart  `json:"restart"`

	disk    func(d disk) []Finding     // of each disk of each machine
	machine func(m *machine) []Finding // of each machine
	host    func(a audited) []Finding  // once
}

// Finding is a rule that fired. A finding about the host has no VM, one about a machine no Disk.
type Finding struct {
	Rule     string   `json:"rule"` // ID
	Severity Severity `json:"severity"`

	VM    string `json:"vm,omitempty"`   // name, ID where it has none
	Part  string `json:"part,omitempty"` // as vmconf.VM.Part
	Disk  string `json:"disk,omitempty"` // as vmconf.Disk.ID
	Index int    `json:"-"`              // of the machine in what was audited, -1 for the host

	Setting   string       `json:"setting"`            // in QEMU's words, or those of what has it: "cache", "volblocksize"
	At        vmconf.Place `json:"at,omitzero"`        // where it stands, or would
	Effective string       `json:"effective"`          // its value
	Default   string       `json:"default,omitempty"`  // whose default that is; "" = it is written there
	Why       string       `json:"why"`                // one sentence with what is known of this disk
	Changes   []Change     `json:"changes,omitempty"`  // in the machine's configuration, to be made together
	Commands  []string     `json:"commands,omitempty"` // for a shell, where the change is not in the configuration
	Needs     []string     `json:"needs,omitempty"`    // what must be there before the change is made
	Price     *Price       `json:"price,omitempty"`    // nil = it was not measured on this host
	Restart   Restart      `json:"restart"`            // what must start anew for the change to take effect
	Volume    string       `json:"volume,omitempty"`   // path of what lies under the disk, where the finding is about that
}

// Change is a change of a configuration.
type Change = vmconf.Change

// Price is what a run of this host measured of the two settings.
type Price struct {
	Ratio    stat.Estimate `json:"ratio"`    // of the metric as it is to what it becomes: 0.8 = a fifth is lost
	Metric   string        `json:"metric"`   // one of record.MetricNames
	Workload string        `json:"workload"` // name
	Run      string        `json:"run"`      // ID
	From     string        `json:"from"`     // stack that has the setting as it is
	To       string        `json:"to"`       // stack that has it changed

	Accelerator string `json:"accelerator"` // of the run's guests: "kvm", or "tcg", under which losses are of another size
}

// Restart is what must start anew for a change to take effect.
type Restart string

// What can have to start anew, from the least to the most.
const (
	RestartNothing    Restart = "nothing"
	RestartDetach     Restart = "disk detach" // the disk is taken away from the running guest and given back
	RestartReboot     Restart = "guest reboot"
	RestartPowerCycle Restart = "power cycle" // QEMU ends and starts
	RestartHost       Restart = "host"
)

// Restarts lists them in that order.
var Restarts = []Restart{RestartNothing, RestartDetach, RestartReboot, RestartPowerCycle, RestartHost}
