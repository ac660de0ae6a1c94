package libvirt

import (
	"fmt"
	"strings"
)

// What is understood, or has nothing to do with disks; all else is said to be unknown.
var (
	inDomain = words(`name uuid hwuuid genid title description metadata memory maxMemory currentMemory memoryBacking vcpu
		vcpus iothreads iothreadids defaultiothread blkiotune memtune cputune numatune resource sysinfo bootloader
		bootloader_args os idmap features cpu clock on_poweroff on_reboot on_crash on_lockfailure pm perf keywrap
		launchSecurity seclabel devices throttlegroups`)
	inDevices = words(`emulator disk controller lease filesystem interface input sound audio hostdev graphics video console
		parallel serial channel smartcard hub redirdev redirfilter rng tpm shmem memory watchdog memballoon nvram panic
		iommu vsock crypto pstore`)
	inDisk = words(`driver auth source backingStore backenddomain geometry blockio target iotune throttlefilters readonly
		shareable transient serial wwn vendor product encryption boot alias address acpi privateData`)
	ofDisk   = words(`type device snapshot model rawio sgio`)
	inDriver = words(`metadata_cache iothreads`)
	ofDriver = words(`name type cache error_policy rerror_policy io ioeventfd event_idx copy_on_read discard
		discard_no_unref iothread detect_zeroes queues queue_size iommu ats packed page_per_vq`)
	ofTarget         = words(`dev bus tray removable rotation_rate`)
	ofBlockIO        = words(`logical_block_size physical_block_size discard_granularity`)
	inController     = words(`driver address alias acpi`)
	ofController     = words(`type index model`)
	ofControllerDriv = words(`queues cmd_per_lun max_sectors ioeventfd iothread iommu ats packed page_per_vq`)
)

// words makes a set of words.
func words(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

// strangers says what is not understood.
func (m *machine) strangers() {
	for _, e := range m.dom.kids {
		switch {
		case strings.HasPrefix(e.space, "http://libvirt.org/schemas/domain/") || e.space == "qemu":
			m.namespace(e)
		case e.space != "" || !inDomain[e.name]:
			m.stranger(e)
		}
	}
	for _, e := range m.devices {
		m.kidsBut(e, inDevices)
	}
	for _, d := range m.disks {
		m.kidsBut(d.el, inDisk)
		m.attrsBut(d.el, ofDisk)
		m.kidsBut(d.driver, inDriver)
		m.attrsBut(d.driver, ofDriver)
		m.attrsBut(d.el.kid("target"), ofTarget)
		m.attrsBut(d.el.kid("blockio"), ofBlockIO)
		if d.is.Backend == "" {
			m.stranger(d.el)
		}
	}
	for _, c := range m.ctls {
		m.kidsBut(c.el, inController)
		m.attrsBut(c.el, ofController)
		m.attrsBut(c.el.kid("driver"), ofControllerDriv)
	}
}

func (m *machine) kidsBut(e *element, known map[string]bool) {
	for _, k := range kidsOf(e) {
		if k.space != "" || !known[k.name] {
			m.stranger(k)
		}
	}
}

func (m *machine) attrsBut(e *element, known map[string]bool) {
	if e == nil {
		return
	}
	for _, a := range e.attrs {
		if a.space == "" && a.name != "xmlns" && !known[a.name] {
			m.unknown(a.start, []byte(fmt.Sprintf("<%s %s>", e.name, m.doc.data[a.start:a.end])))
		}
	}
}

func (m *machine) stranger(e *element) { m.unknown(e.start, m.doc.data[e.start:e.open]) }

// namespace says what is handed past libvirt: each option of QEMU's command line with its value, and every other setting.
func (m *machine) namespace(e *element) {
	var at int
	var option []string
	flush := func() {
		if option != nil {
			m.unknown(at, []byte("qemu:commandline "+strings.Join(option, " ")))
		}
		option = nil
	}
	e.walk(func(k *element) bool {
		switch {
		case k.name == "arg" && k.attr("value") == nil && len(k.attrs) > 0:
			m.stranger(k)
		case k.name == "arg":
			if strings.HasPrefix(k.get("value"), "-") || option == nil {
				flush()
				at = k.start
			}
			option = append(option, k.get("value"))
		case len(k.kids) == 0 && len(k.attrs) > 0:
			m.stranger(k)
		}
		return true
	})
	flush()
}
