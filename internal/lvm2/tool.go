// Package lvm2 runs the tools of LVM, on the devices that it is told and no others, with udev and without, and reads
// their reports.
package lvm2

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/sys"
)

// Tool is how LVM is to be run.
type Tool struct {
	Devices []string // paths of the physical volumes that it may see; nil = whatever the host's settings let it see
	Udev    bool     // udevd runs, and makes the nodes in /dev
}

// UdevRuns reports whether udevd runs on this host: without it, LVM would wait for it for ever.
func UdevRuns() bool {
	_, err := os.Stat("/run/udev/control")
	return err == nil
}

// Installed reports whether there is LVM on this host. /sbin is not on every user's path.
func Installed(run sys.Runner) bool { return program(run) != "" }

func program(run sys.Runner) string {
	for _, name := range []string{"lvm", "/usr/sbin/lvm", "/sbin/lvm"} {
		if _, err := run.LookPath(name); err == nil {
			return name
		}
	}
	return ""
}

// Run runs one of LVM's commands and returns its standard output.
func (t Tool) Run(ctx context.Context, run sys.Runner, command string, args ...string) ([]byte, error) {
	name := program(run)
	if name == "" {
		return nil, errkind.Userf("LVM is not installed; `iotax doctor` says how to get it")
	}
	return run.Run(ctx, sys.Command{
		Argv: append([]string{name}, t.args(command, args...)...),
		// What LVM says is read in English, and it would complain of every file that is open here.
		Env: append(os.Environ(), "LC_ALL=C", "LVM_SUPPRESS_FD_WARNINGS=1"),
	})
}

func (t Tool) args(command string, args ...string) []string {
	all := []string{command}
	if config := t.config(); config != "" {
		all = append(all, "--config", config)
	}
	return append(all, args...)
}

// config is what differs from the host's lvm.conf. A group of our own on Devices leaves no trace: no other device is
// looked at, hints and backups of the metadata are not written, dmeventd is not started, and a pool that is full says
// so at once in place of letting writes wait a minute.
func (t Tool) config() string {
	var devices, activation, global, backup []string
	if len(t.Devices) > 0 {
		only := "["
		for _, device := range t.Devices {
			only += fmt.Sprintf(`"a|^%s$|",`, device)
		}
		only += `"r|.*|"]`
		devices = []string{"filter=" + only, "global_filter=" + only, "use_devicesfile=0", `hints="none"`}
		activation = []string{"monitoring=0", "error_when_full=1"}
		global = []string{`thin_check_executable=""`} // a pool that was just made is whole
		backup = []string{"backup=0", "archive=0"}
	}
	if !t.Udev {
		devices = append(devices, "obtain_device_list_from_udev=0")
		activation = append(activation, "udev_sync=0", "udev_rules=0")
		global = append(global, "event_activation=0")
	}
	var sections []string
	for _, s := range []struct {
		name     string
		settings []string
	}{{"devices", devices}, {"activation", activation}, {"global", global}, {"backup", backup}} {
		if len(s.settings) > 0 {
			sections = append(sections, s.name+"{"+strings.Join(s.settings, " ")+"}")
		}
	}
	return strings.Join(sections, " ")
}
