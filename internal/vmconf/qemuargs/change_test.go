package qemuargs_test

import (
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/vmconf"
)

const q = "qemu-system-x86_64 "

func TestChange(t *testing.T) {
	for name, tt := range map[string]struct {
		text    string
		changes []vmconf.Change
		want    string
	}{
		"cache": {
			q + "-drive file=a,,b,if=virtio,cache=unsafe -m 1G # keep\n",
			[]vmconf.Change{{Disk: "virtio0", Setting: vmconf.SetCache, Value: "none"}},
			q + "-drive file=a,,b,if=virtio,cache=none -m 1G # keep\n",
		},
		"cache by its parts": {
			q + "-drive file=a,if=virtio,cache.no-flush=on,cache.writeback=off",
			[]vmconf.Change{{Disk: "virtio0", Setting: vmconf.SetCache, Value: "directsync"}},
			q + "-drive file=a,if=virtio,cache=directsync",
		},
		"cache behind a variable": {
			q + `-drive "$OPTS",cache=$MODE,if=virtio -S`,
			[]vmconf.Change{{Disk: "virtio0", Setting: vmconf.SetCache, Value: "none"}},
			q + `-drive "$OPTS",cache=none,if=virtio -S`,
		},
		"inside a variable's value": {
			"O=cache=unsafe,aio=threads\n" + q + "-drive file=a,if=virtio,$O -drive file=b,if=virtio,$O\n",
			[]vmconf.Change{{Disk: "virtio1", Setting: vmconf.SetCache, Value: "none"}, {Disk: "virtio1", Setting: vmconf.SetAIO, Value: "native"}},
			"O=cache=unsafe,aio=threads\n" + q + "-drive file=a,if=virtio,$O -drive file=b,if=virtio,$O,cache=none,aio=native\n",
		},
		"array": {
			"args=(\n  -drive 'file=a b,if=virtio' # one\n  -m 1G\n)\n" + q + "\"${args[@]}\"\n",
			[]vmconf.Change{{Disk: "virtio0", Setting: vmconf.SetIOThread, Value: "on"}},
			"args=(\n  -drive 'file=a b,if=none,id=virtio0'\n  -object iothread,id=iothread-virtio0\n  -device virtio-blk-pci,drive=virtio0,iothread=iothread-virtio0 # one\n  -m 1G\n)\n" + q + "\"${args[@]}\"\n",
		},
		"hda becomes virtio": {
			q + `-hda "my disk,1.img" -cdrom b.iso`,
			[]vmconf.Change{{Disk: "ide0-hd0", Setting: vmconf.SetBus, Value: vmconf.VirtioBlk}, {Disk: "ide0-hd0", Setting: vmconf.SetCache, Value: "none"}},
			q + `-drive "file=my disk,,1.img,if=none,media=disk,id=ide0-hd0,cache=none" -device virtio-blk-pci,drive=ide0-hd0 -cdrom b.iso`,
		},
		"to virtio-blk where a later device wants the first free slot": {
			q + "-drive file=a,if=none,id=d -device ide-hd,drive=d,id=x -device virtio-balloon-pci,addr=0x3 -device e1000,addr=0x18\n",
			[]vmconf.Change{{Disk: "x", Setting: vmconf.SetBus, Value: vmconf.VirtioBlk}},
			q + "-drive file=a,if=none,id=d -device virtio-blk-pci,drive=d,id=x,addr=0x17 -device virtio-balloon-pci,addr=0x3 -device e1000,addr=0x18\n",
		},
		"to virtio-scsi where a later device wants the first free slot": {
			q + "-drive file=a,if=none,id=d -device ide-hd,drive=d,id=x -device '{\"driver\":\"virtio-balloon-pci\",\"addr\":\"0x3\"}'\n",
			[]vmconf.Change{{Disk: "x", Setting: vmconf.SetBus, Value: vmconf.VirtioSCSI}},
			q + "-drive file=a,if=none,id=d -device virtio-scsi-pci,id=scsi-x,addr=0x18 -device scsi-hd,drive=d,id=x,bus=scsi-x.0 -device '{\"driver\":\"virtio-balloon-pci\",\"addr\":\"0x3\"}'\n",
		},
		"a device of its own where a later one wants the first free slot": {
			q + "-drive file=a,if=virtio -device virtio-balloon-pci,addr=0x3\n",
			[]vmconf.Change{{Disk: "virtio0", Setting: vmconf.SetIOThread, Value: "on"}},
			q + "-drive file=a,if=none,id=virtio0 -object iothread,id=iothread-virtio0 -device virtio-blk-pci,drive=virtio0,addr=0x18,iothread=iothread-virtio0 -device virtio-balloon-pci,addr=0x3\n",
		},
		"to virtio-scsi": {
			q + "-drive file=a,if=none,id=d \\\n  -device ide-hd,drive=d,bus=ide.0,unit=0,id=x,bootindex=1\n",
			[]vmconf.Change{{Disk: "x", Setting: vmconf.SetBus, Value: vmconf.VirtioSCSI}, {Disk: "x", Setting: vmconf.SetIOThread, Value: "on"}},
			q + "-drive file=a,if=none,id=d \\\n  -object iothread,id=iothread-x \\\n  -device virtio-scsi-pci,id=scsi-x,iothread=iothread-x \\\n  -device scsi-hd,drive=d,bus=scsi-x.0,id=x,bootindex=1\n",
		},
		"json": {
			q + `-blockdev '{"driver":"file","filename":"a","node-name":"f"}' -blockdev '{"driver":"qcow2","file":"f","node-name":"n"}' -device '{"driver":"virtio-blk-pci","drive":"n","id":"v"}'`,
			[]vmconf.Change{
				{Disk: "v", Setting: vmconf.SetCache, Value: "none"},
				{Disk: "v", Setting: vmconf.SetAIO, Value: "io_uring"},
				{Disk: "v", Setting: vmconf.SetQueues, Value: "2"},
				{Disk: "v", Setting: vmconf.SetDiscard, Value: "unmap"},
				{Disk: "v", Setting: vmconf.SetDetectZeroes, Value: "unmap"},
				{Disk: "v", Setting: vmconf.SetL2CacheSize, Value: "4194304"},
			},
			q + `-blockdev '{"driver":"file","filename":"a","node-name":"f","cache":{"direct":true},"aio":"io_uring","discard":"unmap"}' -blockdev '{"driver":"qcow2","file":"f","node-name":"n","discard":"unmap","detect-zeroes":"unmap","l2-cache-size":4194304}' -device '{"driver":"virtio-blk-pci","drive":"n","id":"v","num-queues":2}'`,
		},
		"write through on a node": {
			q + "-blockdev driver=file,filename=a,node-name=n -device virtio-blk-pci,drive=n,id=v",
			[]vmconf.Change{{Disk: "v", Setting: vmconf.SetCache, Value: "directsync"}},
			q + "-blockdev driver=file,filename=a,node-name=n,cache.direct=on -device virtio-blk-pci,drive=n,id=v,write-cache=off",
		},
		"limits": {
			q + "-object '{\"qom-type\":\"throttle-group\",\"id\":\"g\",\"limits\":{\"iops-total\":5,\"bps-total\":6}}' -drive iops=5,iops_max=9,iops_max_length=2,file=a,if=virtio,bps_rd=7",
			[]vmconf.Change{{Disk: "virtio0", Setting: vmconf.SetThrottle}},
			q + "-object '{\"qom-type\":\"throttle-group\",\"id\":\"g\",\"limits\":{\"iops-total\":5,\"bps-total\":6}}' -drive file=a,if=virtio",
		},
		"limits of a group": {
			q + "-object '{\"qom-type\":\"throttle-group\",\"id\":\"g\",\"limits\":{\"iops-total\":5,\"bps-total\":6}}' -blockdev driver=throttle,throttle-group=g,node-name=t,file.driver=file,file.filename=a -device virtio-blk-pci,drive=t",
			[]vmconf.Change{{Disk: "t", Setting: vmconf.SetThrottle}},
			q + "-object '{\"qom-type\":\"throttle-group\",\"id\":\"g\",\"limits\":{}}' -blockdev driver=throttle,throttle-group=g,node-name=t,file.driver=file,file.filename=a -device virtio-blk-pci,drive=t",
		},
		"back to the defaults": {
			q + "-object iothread,id=t -drive file=a,if=none,id=d,cache=none,aio=native,discard=unmap,detect-zeroes=on -device virtio-blk-pci,iothread=t,drive=d,num-queues=1,queue-size=64",
			[]vmconf.Change{
				{Disk: "d", Setting: vmconf.SetCache},
				{Disk: "d", Setting: vmconf.SetAIO},
				{Disk: "d", Setting: vmconf.SetDiscard},
				{Disk: "d", Setting: vmconf.SetDetectZeroes},
				{Disk: "d", Setting: vmconf.SetIOThread, Value: "off"},
				{Disk: "d", Setting: vmconf.SetQueues},
				{Disk: "d", Setting: vmconf.SetQueueSize},
			},
			q + "-object iothread,id=t -drive file=a,if=none,id=d -device virtio-blk-pci,drive=d",
		},
		"source in quotes": {
			q + `-drive file="$DISK",if=virtio`,
			[]vmconf.Change{{Disk: "virtio0", Setting: vmconf.SetSource, Value: `/dev/disk/by-id/a,"b`}},
			q + `-drive file="/dev/disk/by-id/a,,\"b",if=virtio`,
		},
		"machine": {
			q + "-M pc-i440fx-4.2,accel=kvm \\\n\t-device virtio-balloon-pci \\\n\t-m 1G\n",
			[]vmconf.Change{
				{Setting: vmconf.SetMachine, Value: "pc-i440fx-9.0"},
				{Setting: vmconf.SetBalloon, Value: "off"},
				{Setting: vmconf.SetHugepages, Value: "on"},
			},
			q + "-mem-path /dev/hugepages -M pc-i440fx-9.0,accel=kvm \\\n\t-m 1G\n",
		},
		"agent": {
			q + "-name db -hda a -daemonize\n",
			[]vmconf.Change{{Setting: vmconf.SetAgent, Value: "on"}},
			q + "-name db -hda a -chardev socket,id=qga0,path=/run/db-qga.sock,server=on,wait=off -device virtio-serial-pci -device virtserialport,chardev=qga0,name=org.qemu.guest_agent.0 -daemonize\n",
		},
		"huge pages of a backend": {
			q + "-object memory-backend-ram,id=m,size=1G -machine q35,memory-backend=m",
			[]vmconf.Change{{Setting: vmconf.SetHugepages, Value: "on"}},
			q + "-object memory-backend-memfd,id=m,size=1G,hugetlb=on -machine q35,memory-backend=m",
		},
		"vector": {
			"qemu-system-x86_64\x00-drive\x00file=a b,if=virtio\x00",
			[]vmconf.Change{{Disk: "virtio0", Setting: vmconf.SetIOThread, Value: "on"}},
			"qemu-system-x86_64\x00-drive\x00file=a b,if=none,id=virtio0\x00-object\x00iothread,id=iothread-virtio0\x00-device\x00virtio-blk-pci,drive=virtio0,iothread=iothread-virtio0\x00",
		},
		"one argument per line": {
			"-drive\nfile=a b,if=virtio\n-m\n1G\n",
			[]vmconf.Change{{Disk: "virtio0", Setting: vmconf.SetQueues, Value: "3"}},
			"-drive\nfile=a b,if=none,id=virtio0\n-device\nvirtio-blk-pci,drive=virtio0,num-queues=3\n-m\n1G\n",
		},
		"export": {
			"qemu-storage-daemon --blockdev file,node-name=n,filename=a --export nbd,id=e,node-name=n",
			[]vmconf.Change{{Disk: "e", Setting: vmconf.SetCache, Value: "none"}, {Disk: "e", Setting: vmconf.SetIOThread, Value: "on"}},
			"qemu-storage-daemon --blockdev file,node-name=n,filename=a,cache.direct=on --object iothread,id=iothread-e --export nbd,id=e,node-name=n,iothread=iothread-e",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := parse(t, "f", []byte(tt.text))
			got, err := d.Change(0, tt.changes)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestChangeFails(t *testing.T) {
	for name, tt := range map[string]struct {
		text    string
		changes []vmconf.Change
		want    []string // one in each line
	}{
		"native needs direct": {
			q + "-drive file=a,if=virtio",
			[]vmconf.Change{{Disk: "virtio0", Setting: vmconf.SetAIO, Value: "native"}},
			[]string{"aio=native needs cache none"},
		},
		"all at once": {
			q + "-hda a -cdrom b",
			[]vmconf.Change{
				{Disk: "hda", Setting: vmconf.SetCache, Value: "none"},
				{Disk: "ide0-hd0", Setting: vmconf.SetIOThread, Value: "on"},
				{Disk: "ide1-cd0", Setting: vmconf.SetBus, Value: vmconf.VirtioBlk},
				{Disk: "ide0-hd0", Setting: vmconf.SetCache, Value: "fast"},
				{Setting: "colour", Value: "red"},
				{Disk: "ide0-hd0", Setting: vmconf.SetQueues, Value: "many"},
			},
			[]string{"no such disk; its disks: ide0-hd0, ide1-cd0", "QEMU knows none", "no such setting", "not a number", "needs ide, sata or virtio-scsi", "no such setting"},
		},
		"shared variable": {
			"A='-drive file=a,if=virtio'\n" + q + "$A\n" + q + "$A -m 1G\n",
			[]vmconf.Change{{Disk: "virtio0", Setting: vmconf.SetCache, Value: "none"}},
			[]string{"the variable A is used more than once"},
		},
		"shared group": {
			q + "-object throttle-group,id=g,x-iops-total=5 -blockdev driver=throttle,throttle-group=g,node-name=a,file.driver=file,file.filename=a -device virtio-blk-pci,drive=a -blockdev driver=throttle,throttle-group=g,node-name=b,file.driver=file,file.filename=b -device virtio-blk-pci,drive=b",
			[]vmconf.Change{{Disk: "a", Setting: vmconf.SetThrottle}},
			[]string{"also those of b"},
		},
		"overridden": {
			q + "-drive file=a,if=none,id=d -device virtio-blk-pci,drive=d,id=x -set device.x.num-queues=1",
			[]vmconf.Change{{Disk: "x", Setting: vmconf.SetQueues, Value: "4"}},
			[]string{"it stays 1"},
		},
		"no medium": {
			q + "-device ide-cd,id=c",
			[]vmconf.Change{{Disk: "c", Setting: vmconf.SetCache, Value: "none"}},
			[]string{"no medium"},
		},
		"zeroes": {
			q + "-drive file=a,if=virtio",
			[]vmconf.Change{{Disk: "virtio0", Setting: vmconf.SetDetectZeroes, Value: "unmap"}},
			[]string{"needs discard=unmap"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(t, "f", []byte(tt.text)).Change(0, tt.changes)
			if err == nil {
				t.Fatal("it was accepted")
			}
			if errkind.CodeOf(err) != errkind.Usage {
				t.Errorf("the code is %d", errkind.CodeOf(err))
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(tt.want) {
				t.Fatalf("%d faults, want %d:\n%v", len(lines), len(tt.want), err)
			}
			for i, want := range tt.want {
				if !strings.Contains(lines[i], want) {
					t.Errorf("fault %d is %q, want %q", i, lines[i], want)
				}
			}
		})
	}
}
