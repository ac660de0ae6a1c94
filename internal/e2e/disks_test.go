package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/qemu/qsd"
	"github.com/iotax/iotax/internal/record"
)

// What is wrong with the storage of an experiment is said in a line, before anything is touched.
func TestBadStorage(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		says []string
		lack string // a program: with it the request is no bad one
	}{
		"a group of no use":         {args: []string{"--preset", "controllers", "--vg", "nosuch"}, says: []string{"--vg: no stack of controllers is a volume of LVM"}},
		"SPDK of no use":            {args: []string{"--preset", "local-disks", "--spdk", "/nowhere"}, says: []string{"--spdk: no stack of local-disks is served by SPDK"}},
		"SPDK that is nowhere":      {args: []string{"--preset", "qemu-tuning", "--spdk", "/nowhere/spdk.sock"}, says: []string{"--spdk: ", "/nowhere/spdk.sock", "no such file"}},
		"a file for SPDK":           {args: []string{"--preset", "qemu-tuning", "--spdk", "testdata/tiny.yaml"}, says: []string{"--spdk: ", "tiny.yaml", "permission denied"}},
		"Iometer's file broken":     {args: []string{"--preset", "zfs-volumes", "--icf", "../iometer/testdata/faults.icf"}, says: []string{"faults.icf:7:2  Short: the line has 4 values", " faults, nothing was touched."}},
		"Iometer's file missing":    {args: []string{"--icf", "nowhere.icf"}, says: []string{"nowhere.icf: no such file"}},
		"a scale that is none":      {args: []string{"--preset", "controllers", "--scale", "large"}, says: []string{`unknown scale "large"`, "article, small, tiny"}},
		"no disk, for want of ZFS":  {args: []string{"--preset", "zfs-volumes", "--scale", "tiny"}, says: []string{"no disk of zfs-volumes can be offered here: ", "ZFS"}, lack: "zpool"},
		"a pool, for want of ZFS":   {args: []string{"--preset", "zfs-volumes", "--scale", "tiny", "--zpool", "nosuch"}, says: []string{"no disk of zfs-volumes can be offered here: ", "ZFS"}, lack: "zpool"},
		"more than any disk can do": {args: []string{"--preset", "local-disks", "--size", "1000TiB"}, says: []string{" free, the scratch volumes need "}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(tt.lack); tt.lack != "" && err == nil {
				t.Skip("this host has ", tt.lack)
			}
			h := newHost(t)
			h.refuses(tt.args, tt.says...)
			if _, err := os.Stat(h.state); err == nil {
				t.Error("the state folder was made")
			}
		})
	}
}

// refuses runs iotax with a request that it must refuse in so many words, with nothing on standard output.
func (h *host) refuses(args []string, phrases ...string) {
	h.t.Helper()
	r := h.emulated(args...)
	r.wait(2)
	says(h.t, r.stderr.String(), phrases...)
	if r.stdout.String() != "" {
		h.t.Errorf("standard output: %s", r.stdout.String())
	}
}

// A volume group that is not there is refused where there is LVM; elsewhere the stack is out with the command that mends it.
// So is SPDK without huge pages.
func TestMissingPool(t *testing.T) {
	h := newHost(t)
	args := []string{"--preset", "qemu-tuning", "--scale", "tiny", "--vg", "nosuch", "--spdk", "/bin/true"}
	if _, err := exec.LookPath("lvm"); err == nil {
		h.refuses(args, "nosuch")
		return
	}
	r := h.emulated(args...)
	r.untilSaid("filling")
	says(t, r.stderr.String(), "LVM volume; ", "; tuned on LVM are unavailable: LVM is not installed (", "lvm2)")
	if free := hugepages(t, "free_hugepages"); free == 0 {
		says(t, r.stderr.String(), "SPDK vhost-user-blk; SPDK vhost-user-scsi are unavailable: SPDK and its guest need ", "free huge pages", "(sysctl -w vm.nr_hugepages=")
	}
	r.signal(syscall.SIGINT)
	r.wait(130)
	h.checkUndone()
}

// hugepages reads a counter of the pool of 2 MiB pages, 0 where there is none.
func hugepages(t *testing.T, counter string) (n int) {
	t.Helper()
	text, err := os.ReadFile("/sys/kernel/mm/hugepages/hugepages-2048kB/" + counter)
	if err != nil {
		return 0
	}
	if n, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil {
		t.Fatal(err)
	}
	return n
}

// The pages that a run reserved are given back: when it is interrupted, and by clean when it was killed.
func TestHugepages(t *testing.T) {
	asRoot(t)
	if _, err := os.Stat("/sys/kernel/mm/hugepages/hugepages-2048kB"); err != nil {
		t.Skip(err)
	}
	for name, end := range map[string]func(h *host, r *run){
		"interrupted": func(h *host, r *run) {
			r.signal(syscall.SIGINT)
			r.wait(130)
		},
		"killed": func(h *host, r *run) {
			r.signal(syscall.SIGKILL)
			<-r.ended
			untilGone(h, "qemu")
			h.iotax(0, "clean")
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			before := hugepages(t, "nr_hugepages")
			r := h.measure("hugepages")
			r.until("huge pages", func() bool { return hugepages(t, "nr_hugepages") > before })
			r.untilMidWindow(0)
			end(h, r)
			h.checkUndone()
			for end := time.Now().Add(patience); hugepages(t, "nr_hugepages") > before; time.Sleep(100 * time.Millisecond) {
				if time.Now().After(end) { // until then others may have some
					t.Fatalf("%d huge pages are reserved, before it were %d", hugepages(t, "nr_hugepages"), before)
				}
			}
		})
	}
}

// A disk of its own is divided, measured, and given free: no partition is left, nothing that blkid would take for data, and
// nobody who holds it.
func TestDividedDevice(t *testing.T) {
	h := newHost(t)
	device := h.loop(400 << 20)
	command(t, "mkfs.ext4", "-V") // or skip
	h.refuses([]string{"-f", "testdata/disks.yaml", "--device", device, "--size", "200MiB"}, device+" has 400 MiB, ", "volumes need ", "a larger device")
	file := filepath.Join(h.dir, "result.json")
	r := h.measure("disks", "--device", device, "--json", file)
	r.until("partitions", func() bool { return len(partitions(device)) > 0 })
	r.wait(0)
	h.checkUndone()
	checkReleased(t, device)
	checkContract(t, file)
	d := read(t, file)
	for _, c := range d.Cells {
		if c.Status != record.OK && c.Status != record.Withheld && !busy() {
			t.Errorf("cell %s, %s is %s: %s", c.Stack, c.Workload, c.Status, c.Reason)
		}
	}
	for name, file := range map[string]bool{"host": false, "passthrough": false, "raw": true, "raw-writeback": true} {
		if v := stackOf(t, d, name).Volume; v == nil || (filepath.Ext(v.Path) == ".raw") != file || len(v.Devices) == 0 {
			t.Errorf("%s lies on %+v; want a file: %v", name, v, file)
		} else if v.Unwritten == nil || *v.Unwritten != 0 {
			t.Errorf("%s: how much of its volume was never written: %v, want nothing", name, v.Unwritten)
		}
	}
	killOnDevice(h, device)
	command(t, "mkfs.ext4", "-q", device)
	h.refuses([]string{"-f", "testdata/disks.yaml", "--device", device}, "carries data", "ext4", "--erase "+device)
	command(t, "fsck.ext4", "-n", device)
}

// killOnDevice ends a run on the device by kill -9 in the middle of a window; clean leaves nothing of it.
func killOnDevice(h *host, device string) {
	h.t.Helper()
	h.refuses([]string{"-f", "testdata/disks.yaml", "--device", device}, "carries data", "not all zero") // what the run before wrote
	r := h.measure("disks", "--device", device, "--erase", device)
	r.untilMidWindow(1)
	r.signal(syscall.SIGKILL)
	<-r.ended
	untilGone(h, "qemu")
	if len(partitions(device)) == 0 {
		h.t.Error("the partitions went with iotax: the test does not see what clean has to do")
	}
	h.iotax(0, "clean")
	h.checkUndone()
	checkReleased(h.t, device)
}

// A run in a folder has loop devices on files of its own; after kill -9 clean gives them back.
func TestKilledWithLoopDevices(t *testing.T) {
	h := newHost(t)
	asRoot(t)
	r := h.measure("disks")
	r.untilMidWindow(1)
	if len(loopsBelow(h.dir)) == 0 {
		t.Error("no loop device is there: the test does not see what clean has to do")
	}
	r.signal(syscall.SIGKILL)
	<-r.ended
	untilGone(h, "qemu")
	h.iotax(0, "clean")
	h.checkClean()
}

// partitions lists the partitions that the kernel knows of a disk.
func partitions(device string) []string {
	name := filepath.Base(device)
	found, _ := filepath.Glob(filepath.Join("/sys/block", name, name+"p*"))
	return found
}

// checkReleased fails the test when the device is not as a blank disk that nobody uses.
func checkReleased(t *testing.T, device string) {
	t.Helper()
	if left := partitions(device); len(left) > 0 {
		t.Errorf("partitions are left: %v", left)
	}
	if left, _ := filepath.Glob(device + "p*"); len(left) > 0 {
		t.Errorf("nodes of partitions are left: %v", left)
	}
	const nothing = 2 // blkid(8)
	out, err := exec.Command("blkid", "-p", device).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != nothing || len(out) > 0 {
		t.Errorf("blkid of %s: %v, %s; want to hear of nothing", device, err, out)
	}
	f, err := os.OpenFile(device, os.O_RDWR|unix.O_EXCL, 0)
	if err != nil {
		t.Errorf("somebody still holds the device: %v", err)
		return
	}
	f.Close()
}

// A disk whose server dies fails by itself: the stacks beside it are measured to the end.
func TestStorageDaemonKilled(t *testing.T) {
	if _, err := exec.LookPath("qemu-storage-daemon"); err != nil {
		t.Skip(err)
	}
	h := newHost(t)
	file := filepath.Join(h.dir, "result.json")
	r := h.measure("served", "--json", file)
	r.untilMidWindow(1)
	daemons := h.processes("qemu-storage")
	if len(daemons) != 1 {
		t.Fatalf("the daemons are %v, want one", daemons)
	}
	if err := syscall.Kill(daemons[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.wait(0)
	h.checkUndone()
	d := read(t, file)
	if len(d.Host.Boots) != 1 {
		t.Errorf("%d boots, want one: the guest was not at fault", len(d.Host.Boots))
	}
	for _, c := range d.Cells {
		switch c.Stack {
		case "served":
			if c.Status != record.Failed || !strings.Contains(c.Reason, "qemu-storage-daemon") || !strings.Contains(c.Reason, "killed from outside") {
				t.Errorf("%s under %s is %s: %s", c.Stack, c.Workload, c.Status, c.Reason)
			}
		default:
			if (c.Status != record.OK || c.Rounds != 4) && !disturbed(c) && !busy() {
				t.Errorf("%s under %s is %s after %d rounds: %s", c.Stack, c.Workload, c.Status, c.Rounds, c.Reason)
			}
		}
	}
}

// A server that does not start costs its own stack only, and a run that is resumed keeps to the plan that had it: else the
// boots would be counted otherwise, and what is still to be measured would be taken for done.
func TestResumedWithoutAStack(t *testing.T) {
	real, err := exec.LookPath("qemu-storage-daemon")
	if err != nil {
		t.Skip(err)
	}
	h := newHost(t)
	broken := "#!/bin/sh\ncase \"$*\" in *" + qsd.TempPrefix + "*) exec " + real + " \"$@\";; esac\necho no room for sockets >&2\nexit 1\n"
	bin := filepath.Join(h.dir, "bin")
	if err := errors.Join(os.Mkdir(bin, 0o700), os.WriteFile(filepath.Join(bin, "qemu-storage-daemon"), []byte(broken), 0o700)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	r := h.measure("absent")
	r.untilSaid("boot 4 of 4: agent ready") // the first guest's second boot
	r.until("a window", func() bool { return len(r.processes("fio")) > 0 })
	r.signal(syscall.SIGINT)
	r.wait(130)
	_, before := h.stored()

	file := filepath.Join(h.dir, "result.json")
	h.emulated("--resume", "--json", file).wait(0)
	h.checkUndone()
	_, after := h.stored()
	checkKept(t, before, after)
	for boot := range 4 {
		n := 0
		for _, w := range after {
			if w.Boot == boot && !w.Discard && w.Stack == "raw" && w.Status == record.OK {
				n++
			}
		}
		if want := map[int]int{0: 2, 3: 2}[boot]; n < want || want == 0 && n > 0 {
			t.Errorf("boot %d has %d windows of raw, want %d", boot, n, want)
		}
	}
	for _, c := range read(t, file).Cells {
		if served := c.Stack == "served"; served != (c.Status == record.Unavailable) || served && !strings.Contains(c.Reason, "no room for sockets") {
			t.Errorf("%s is %s: %s", c.Stack, c.Status, c.Reason)
		}
	}
}
