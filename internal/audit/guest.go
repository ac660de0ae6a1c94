package audit

import (
	"slices"

	"github.com/iotax/iotax/internal/vmconf"
)

var guestRules = []Rule{{
	ID: "IOT063", Title: "backups of a guest that is not frozen", Severity: Hygiene, Restart: RestartPowerCycle, Guests: "Linux with qemu-guest-agent; Windows with the agent of virtio-win",
	Looks: "a machine of Proxmox VE with a disk in its backups, or of libvirt whose guest is known to be Linux or Windows, without the channel of the guest agent.",
	Why:   "A backup or snapshot of a guest that nobody froze is what a power failure leaves: file systems replay their journals, and databases may or may not.",
	Sources: []string{
		"Proxmox VE, freeze-fs in src/PVE/QemuServer/Agent.pm: https://git.proxmox.com/?p=qemu-server.git",
		"Proxmox VE, vzdump: https://pve.proxmox.com/pve-docs/chapter-vzdump.html", libvirtDomain,
	},
	machine: func(m *machine) []Finding {
		if m.Agent.Value != "off" || !m.isQEMU() || len(m.disks) == 0 || m.Guest != vmconf.Linux && m.Guest != vmconf.Windows {
			return nil
		}
		switch m.Kind {
		case vmconf.Libvirt:
		case vmconf.Proxmox:
			if !slices.ContainsFunc(m.disks, func(d disk) bool { return d.Backup }) {
				return nil
			}
		default:
			return nil
		}
		return one(about("agent", m.Agent, "nobody can freeze the guest's file systems while its disks are copied").
			change(Change{Setting: vmconf.SetAgent, Value: "on"}).
			needs("qemu-guest-agent is installed and runs in the guest"))
	},
}}
