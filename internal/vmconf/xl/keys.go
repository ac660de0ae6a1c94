package xl

import (
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// keys are the settings of xl.cfg(5) and those of xm's that say nothing of disks.
var keys = strings.Fields(`
name type builder uuid pool seclabel init_seclabel vcpus maxvcpus cpus cpus_soft cpu cpu_weight cap period slice latency
extratime sched memory maxmem vnuma claim_mode nomigrate driver_domain max_grant_frames max_maptrack_frames
max_grant_version max_event_channels vmtrace_buf_kb llc_colors nr_spis trap_unmapped_accesses xend_suspend_evtchn_compat
on_poweroff on_reboot on_watchdog on_crash on_soft_reset on_xend_start on_xend_stop
kernel ramdisk cmdline root extra bootloader bootloader_args bootargs device_tree dtb e820_host pvh pvshim pvshim_path
pvshim_cmdline pvshim_extra features guest_os_type
disk vif vif2 vtpm p9 pvcalls vfb vkb vdispl vsnd channel usbctrl usbdev pci pci_permissive pci_msitranslate
pci_seize pci_power_mgmt gfx_passthru rdm rdm_mem_boundary dtdev passthrough ioports irqs iomem irq virtio nics vscsi
dm_restrict device_model device_model_version device_model_override device_model_user device_model_args
device_model_args_pv device_model_args_hvm device_model_stubdomain_override device_model_stubdomain_seclabel
device_model_stubdomain_init_seclabel stubdomain_kernel stubdomain_cmdline stubdomain_ramdisk stubdomain_memory
boot hdtype hap oos shadow_memory acpi acpi_s3 acpi_s4 acpi_laptop_slate acpi_firmware smbios_firmware smbios
apic pae nx hpet vpt_align nestedhvm altp2m altp2mhvm altp2m_count cpuid mca_caps ms_vm_genid bios bios_path_override
firmware firmware_override viridian tsc_mode timer_mode localtime rtc_timeoffset timer mmio_hole vuart vpmu viommu
gic_version sve arm_sci tee xen_platform_pci vendor_device
videoram stdvga vga vnc vnclisten vncdisplay vncunused vncpasswd vncviewer vncconsole keymap sdl opengl nographic display
xauthority spice spicehost spiceport spicetls_port spicedisable_ticketing spicepasswd spiceagent_mouse spicevdagent
spice_clipboard_sharing spiceusbredirection spice_image_compression spice_streaming_video
serial parallel monitor soundhw audio isa ne2000 usb usbversion usbdevice vkb_device
ip netmask gateway hostname dhcp restart nfs_server nfs_root hostbridge netif tpmif access_control autostart
`)

// known reports whether the file has a setting of xl's or xm's at all.
func (p *parser) known() bool {
	return slices.ContainsFunc(keys, func(k string) bool { return p.settings[k] != nil })
}

// strangers says which names neither xl nor xm has: both step over them without a word.
func (d *Document) strangers() {
	for key, s := range d.settings {
		if !slices.Contains(keys, key) && !s.python {
			d.say(s.line, key+" = "+d.written(s.value))
		}
	}
}

// written is a value as the file has it.
func (d *Document) written(v value) string {
	if v.list {
		return "[...]"
	}
	return string(d.data[v.tok.start:v.tok.end])
}

// say tells of something that was not understood, or that xl does not take as it stands.
func (d *Document) say(line int, text string) {
	if len(d.vm.Unknown) < 2*maxUnknown {
		d.vm.Unknown = append(d.vm.Unknown, vmconf.Unknown{Text: clip([]byte(text)), At: d.at(line)})
	}
}

func (d *Document) at(line int) vmconf.Place { return vmconf.Place{File: d.name, Line: line} }

// single returns the string or number that a name stands for.
func (d *Document) single(key string) (*setting, bool) {
	s := d.settings[key]
	return s, s != nil && !s.list && !s.python
}

// items returns the list that a name stands for; a single value is a list of one, as xl takes it for some.
func (d *Document) items(key string) []value {
	s := d.settings[key]
	switch {
	case s == nil:
		return nil
	case s.list:
		return s.items
	}
	return []value{s.value}
}
