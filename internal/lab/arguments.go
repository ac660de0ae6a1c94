package lab

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/lab/inside"
)

// What the kernel need not do under emulation: test its ciphers, distrust the clock, mend the processor's faults, and give up
// when a busy host brings the timer late.
const kernelArgs = "quiet panic=-1 cryptomgr.notests tsc=reliable no_timer_check mitigations=off"

// xenArgs: smap and smep, which `-cpu max` offers, end dom0 in a page fault under QEMU 7.2. Without eager-fpu, spec-ctrl=no
// makes Xen switch the FPU lazily, and under QEMU's emulation registers of one domain then turn up in another. The other
// things cost time.
const xenArgs = "console=com1 com1=115200 smap=0 smep=0 xpti=false spec-ctrl=no,eager-fpu=yes dom0_max_vcpus=1"

// dom0Share of the memory is dom0's, the rest is for its guests and for Xen.
const dom0Share = 0.6

// arguments are QEMU's for a machine of the part in dir; work has its initrd, scratch disks and socket.
func arguments(dir, work string, c Config) []string {
	const mib = 1 << 20
	args := []string{
		"qemu-system-x86_64", "-accel", "tcg,thread=multi", "-machine", "q35", "-nodefaults", "-no-user-config",
		"-display", "none", "-no-reboot", "-serial", "stdio",
		"-cpu", "max", "-m", strconv.FormatInt(c.Memory/mib, 10), "-smp", strconv.Itoa(c.CPUs),
	}
	args = append(args, kernelOf(dir, work, c)...)
	args = append(args, drive("root", filepath.Join(dir, "root.raw"), true)...)
	for i := range c.Disks {
		args = append(args, drive(fmt.Sprintf("scratch%d", i), diskPath(work, i), false)...)
	}
	args = append(args,
		"-device", "virtio-serial-pci",
		"-chardev", "socket,id=port,server=on,wait=off,path="+escaped(portPath(work)),
		"-device", "virtserialport,chardev=port,name="+inside.PortName)
	for i, s := range c.Shares {
		tag := shareTag(i)
		fsdev := fmt.Sprintf("local,id=%s,security_model=none,multidevs=remap,path=%s", tag, escaped(s.Dir))
		if s.ReadOnly {
			fsdev += ",readonly=on"
		}
		args = append(args, "-fsdev", fsdev, "-device", fmt.Sprintf("virtio-9p-pci,fsdev=%s,mount_tag=%s", tag, tag))
	}
	return args
}

// kernelOf boots Linux, or Xen with Linux as its first module and the initial root file system as its second.
func kernelOf(dir, work string, c Config) []string {
	vmlinux, initrd := filepath.Join(dir, "boot", "vmlinux"), filepath.Join(work, "initrd")
	if !c.Xen {
		return []string{"-kernel", vmlinux, "-initrd", initrd, "-append", "console=ttyS0 " + kernelArgs}
	}
	dom0 := int64(float64(c.Memory) * dom0Share)
	memory := fmt.Sprintf("dom0_mem=%dM,max:%dM ", dom0>>20, dom0>>20)
	return []string{
		"-kernel", filepath.Join(dir, "boot", "xen"), "-append", memory + xenArgs,
		"-initrd", escaped(vmlinux) + " console=hvc0 " + kernelArgs + "," + escaped(initrd),
	}
}

// drive is a virtio-blk disk. Nothing of it outlives the machine, so its caches need no flush. What is written to a
// temporary one goes to a file that has no name any more.
func drive(id, path string, temporary bool) []string {
	file := fmt.Sprintf("if=none,id=%s,file=%s,format=raw,cache=unsafe,discard=unmap", id, escaped(path))
	if temporary {
		file += ",snapshot=on"
	}
	return []string{"-drive", file, "-device", fmt.Sprintf("virtio-blk-pci,drive=%s,serial=%s", id, id)}
}

// escaped writes a path as QEMU has it where a comma ends a value.
func escaped(path string) string { return strings.ReplaceAll(path, ",", ",,") }

func diskPath(work string, i int) string { return filepath.Join(work, fmt.Sprintf("scratch%d.raw", i)) }

func portPath(work string) string { return filepath.Join(work, "port") }

func shareTag(i int) string { return fmt.Sprintf("share%d", i) }
