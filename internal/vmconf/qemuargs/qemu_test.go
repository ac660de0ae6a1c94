package qemuargs_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/vmconf"
)

// The real QEMU takes what a change makes. Its processor never starts, and its monitor ends it at once.
func TestQEMUAccepts(t *testing.T) {
	program, err := exec.LookPath("qemu-system-x86_64")
	if testing.Short() || err != nil {
		t.Skip("no qemu-system-x86_64, or -short")
	}
	dir := t.TempDir()
	disk := filepath.Join(dir, "a,b.img")
	if err := os.WriteFile(disk, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	path := strings.ReplaceAll(disk, ",", ",,")
	all := func(id string) []vmconf.Change {
		return []vmconf.Change{
			{Disk: id, Setting: vmconf.SetCache, Value: "writeback"},
			{Disk: id, Setting: vmconf.SetAIO, Value: "threads"},
			{Disk: id, Setting: vmconf.SetDiscard, Value: "unmap"},
			{Disk: id, Setting: vmconf.SetDetectZeroes, Value: "unmap"},
			{Disk: id, Setting: vmconf.SetIOThread, Value: "on"},
			{Disk: id, Setting: vmconf.SetQueues, Value: "2"},
			{Disk: id, Setting: vmconf.SetQueueSize, Value: "64"},
			{Disk: id, Setting: vmconf.SetPhysical, Value: "4096"},
			{Disk: id, Setting: vmconf.SetThrottle},
			{Setting: vmconf.SetAgent, Value: "on"},
			{Setting: vmconf.SetBalloon, Value: "on"},
			{Setting: vmconf.SetMachine, Value: "pc"},
		}
	}
	to := func(id, bus string, more ...vmconf.Change) []vmconf.Change {
		return append([]vmconf.Change{{Disk: id, Setting: vmconf.SetBus, Value: bus}}, more...)
	}
	for name, tt := range map[string]struct {
		args    []string
		changes []vmconf.Change
	}{
		"drive": {[]string{"-drive", "file=" + path + ",format=raw,if=virtio,iops=100,iops_max=200,iops_max_length=3"}, all("virtio0")},
		"hda":   {[]string{"-hda", disk}, to("ide0-hd0", vmconf.VirtioBlk, all("ide0-hd0")...)},
		"scsi":  {[]string{"-hda", disk}, to("ide0-hd0", vmconf.VirtioSCSI, all("ide0-hd0")...)},
		"nodes": {[]string{
			"-object", "throttle-group,id=g,x-iops-total=10", "-blockdev", "driver=file,filename=" + path + ",node-name=f",
			"-blockdev", "driver=raw,file=f,node-name=n", "-blockdev", "driver=throttle,throttle-group=g,file=n,node-name=t",
			"-device", "virtio-blk-pci,drive=t,id=v",
		}, all("v")},
		"json": {[]string{
			"-blockdev", `{"driver":"raw","node-name":"n","file":{"driver":"file","filename":"` + disk + `"}}`,
			"-device", `{"driver":"virtio-scsi-pci","id":"s"}`, "-device", `{"driver":"scsi-hd","drive":"n","bus":"s.0","id":"v"}`,
		}, all("v")},
		"nvme": {[]string{"-drive", "file=" + path + ",format=raw,if=none,id=d", "-device", "ide-hd,drive=d,bus=ide.0,unit=1"}, to("d", vmconf.NVMe)},
		"sata": {[]string{"-drive", "file=" + path + ",format=raw,if=none,id=d", "-device", "virtio-blk-pci,drive=d,num-queues=1"}, to("d", vmconf.SATA)},
		"back": {[]string{
			"-device", "virtio-scsi-pci,id=s", "-drive", "file=" + path + ",format=raw,if=none,id=d",
			"-device", "scsi-hd,drive=d,bus=s.0,channel=0,scsi-id=1,lun=2,device_id=q",
		}, to("d", vmconf.VirtioBlk, all("d")...)},
	} {
		t.Run(name, func(t *testing.T) {
			argv := append([]string{program, "-nodefaults"}, tt.args...)
			out, err := parse(t, "argv", []byte(strings.Join(argv, "\x00")+"\x00")).Change(0, tt.changes)
			if err != nil {
				t.Fatal(err)
			}
			accepts(t, strings.ReplaceAll(string(out), "/run/", dir+"/"))
		})
	}
}

// accepts starts QEMU with the vector and ends it through its monitor.
func accepts(t *testing.T, vector string) {
	t.Helper()
	argv := strings.Split(strings.TrimSuffix(vector, "\x00"), "\x00")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	args := append(argv[1:], "-S", "-m", "64", "-accel", "tcg", "-display", "none", "-qmp", "stdio")
	cmd := exec.CommandContext(ctx, argv[0], args...)
	cmd.Stdin = strings.NewReader(`{"execute":"qmp_capabilities"}{"execute":"quit"}`)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil || !strings.Contains(said.String(), `"return"`) {
		t.Errorf("%v\n%s\n%s", err, strings.Join(args, "\n"), said.String())
	}
}
