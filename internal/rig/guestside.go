package rig

import (
	"fmt"
	"strconv"

	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/unit"
	"github.com/iotax/iotax/internal/wire"
)

// differs collects, in words, where what runs is not what was asked for.
type differs []string

func (d *differs) when(wrong bool, format string, args ...any) {
	if wrong {
		*d = append(*d, fmt.Sprintf(format, args...))
	}
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

// guestSide says what the guest's kernel makes of a disk, and where that is not what was intended.
func guestSide(in intended, disk wire.Disk) (effective map[string]string, mismatch []string) {
	effective = map[string]string{
		"guest disk":             disk.Name,
		"guest write cache":      disk.WriteCache,
		"guest scheduler":        disk.Scheduler,
		"guest queues":           strconv.Itoa(disk.Queues),
		"guest logical block":    disk.Logical,
		"guest physical block":   disk.Physical,
		"guest read-ahead (KiB)": disk.ReadAhead,
	}
	var d differs
	mode := in.stack.Cache // "" where there is none: a disk of Xen, or one of zero latency
	_, _, writeCache := cmdline.CacheFlags(mode)
	d.when(!writeCache && mode != "" && disk.WriteCache == "write back", "cache %s was asked for, but the guest sees a volatile write cache", mode)
	d.when(writeCache && !in.stack.Ceiling() && disk.WriteCache == "write through",
		"cache %s was asked for, but the guest sees no write cache and will not flush", mode)
	d.when(disk.Size != in.size, "the guest sees a disk of %d bytes, expected %d", disk.Size, in.size)
	d.when(in.stack.Scheduler != "" && disk.Scheduler != in.stack.Scheduler,
		"scheduler %s was asked for, but the guest's kernel has %s", in.stack.Scheduler, disk.Scheduler)
	if want := readAhead(in.stack.ReadAhead); want != "" {
		d.when(disk.ReadAhead != want, "a read-ahead of %s KiB was asked for, but the guest's kernel has %s", want, disk.ReadAhead)
	}
	return effective, d
}

// readAhead is a stack's word for it in the kernel's: a number of KiB, "" where nothing is asked.
func readAhead(word string) string {
	switch word {
	case "":
		return ""
	case "none":
		return "0"
	}
	n, err := unit.ParseBytes(word)
	if err != nil {
		return "" // package spec lets none through
	}
	return strconv.FormatInt(n>>10, 10)
}
