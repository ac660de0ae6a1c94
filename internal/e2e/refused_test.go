package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/iotax/iotax/internal/record"
)

// Everything that is wrong with a request is said at once, and nothing is touched.
func TestBadRequests(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		says []string
	}{
		"a file with many faults": {[]string{"-f", "testdata/faulty.yaml"}, []string{
			`faulty.yaml:5:1  unknown key "runtme"`, `did you mean "runtime"`,
			`faulty.yaml:7:20  stacks[0].bus: unknown bus "scsi"`,
			`faulty.yaml:8:12  stacks[1].name: "a" names another stack too (line 7)`,
			`cannot go with aio "native": native needs cache none or directsync`,
			`stacks[2].iothread: bus "ide" has no iothread`,
			`unknown cache "writeahead"`, " faults, nothing was touched.",
		}},
		"no such file":           {[]string{"-f", "nowhere.yaml"}, []string{"nowhere.yaml: no such file or directory"}},
		"flags that clash":       {[]string{"--quick", "-f", "testdata/tiny.yaml", "--scratch", "/", "--device", "/dev/null"}, []string{"exclude each other", "2 faults, nothing was touched."}},
		"no block device":        {[]string{"-f", "testdata/tiny.yaml", "--device", "/dev/null"}, []string{"/dev/null", "not a block device"}},
		"no such QEMU":           {[]string{"-f", "testdata/tiny.yaml", "--qemu", "/nowhere/qemu"}, []string{"/nowhere/qemu"}},
		"nothing to resume":      {[]string{"--resume"}, []string{"no run is stored in"}},
		"more than any disk has": {[]string{"-f", "testdata/tiny.yaml", "--size", "1000TiB"}, []string{" free, the scratch volumes need "}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			r := h.iotax(2, append([]string{"run"}, tt.args...)...)
			says(t, r.stderr.String(), tt.says...)
			if r.stdout.String() != "" {
				t.Errorf("standard output: %s", r.stdout.String())
			}
			if _, err := os.Stat(h.state); err == nil {
				t.Error("the state folder was made")
			}
		})
	}
}

// Two runs at once would measure each other: the second is refused, or waits when it was told to.
func TestTwoRuns(t *testing.T) {
	h := newHost(t)
	first := h.measure("tiny")
	first.untilSaid("agent ready after")

	second := h.measure("tiny")
	second.wait(6)
	says(t, second.stderr.String(), "process "+strconv.Itoa(first.cmd.Process.Pid)+")", "is measuring with "+h.state, "--wait")

	third := h.measure("tiny", "--wait")
	third.untilSaid("waiting: another iotax run (process " + strconv.Itoa(first.cmd.Process.Pid) + ")")
	if n := len(h.processes("qemu")); n != 1 {
		t.Errorf("%d guests run, want that of the first run", n)
	}
	first.signal(syscall.SIGINT)
	first.wait(130)
	third.untilSaid("agent ready after")
	third.signal(syscall.SIGTERM)
	third.wait(130)

	list := strings.TrimSpace(h.iotax(0, "list").stdout.String())
	if lines := strings.Split(list, "\n"); len(lines) != 3 || strings.Count(list, record.Partial) != 2 {
		t.Errorf("the stored runs are not the first and the third, both partial:\n%s", list)
	}
}

func TestDevice(t *testing.T) {
	h := newHost(t)
	device := h.loop(160 << 20)
	t.Run("empty", func(t *testing.T) { checkEmptyDevice(t, h, device) })
	command(t, "mkfs.ext4", "-q", device)
	t.Run("carries a file system", func(t *testing.T) {
		r := h.measure("tiny", "--device", device)
		r.wait(2)
		says(t, r.stderr.String(), "--device "+device, "ext4", "nothing is written to it", "--erase "+device)
		r = h.measure("tiny", "--device", device, "--erase", "/dev/null")
		r.wait(2)
		says(t, r.stderr.String(), "--erase /dev/null does not name the device of --device "+device)
		command(t, "fsck.ext4", "-n", device)
	})
	t.Run("mounted", func(t *testing.T) {
		dir := filepath.Join(h.dir, "mounted")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		command(t, "mount", device, dir)
		defer command(t, "umount", dir)
		r := h.measure("tiny", "--device", device)
		r.wait(2)
		says(t, r.stderr.String(), "is mounted on "+dir)
		r = h.measure("tiny", "--device", device, "--erase", device) // it would be torn to pieces under its users
		r.wait(2)
		says(t, r.stderr.String(), "is mounted on "+dir)
	})
	t.Run("erased", func(t *testing.T) {
		r := h.measure("tiny", "--device", device, "--erase", device)
		r.untilCounted(1)
		r.signal(syscall.SIGINT)
		r.wait(130)
		h.checkUndone()
	})
}

func checkEmptyDevice(t *testing.T, h *host, device string) {
	file := filepath.Join(h.dir, "result.json")
	r := h.measure("small", "--device", device, "--json", file)
	r.wait(0)
	says(t, r.stderr.String(), "image is unavailable: an image needs a file system", "scratch in "+device)
	checkContract(t, file)
	d := read(t, file)
	if d.Host.ScratchPath != device || d.Host.Filesystem != "" {
		t.Errorf("host %+v, want the device and no file system", d.Host)
	}
	for _, c := range d.Cells {
		want := record.OK
		if c.Stack == "image" {
			want = record.Unavailable
		}
		if c.Status != want && !disturbed(c) {
			t.Errorf("cell %s, %s is %s (%s), want %s", c.Stack, c.Workload, c.Status, c.Reason, want)
		}
	}
	_, windows := h.stored()
	checkWindows(t, windows, 2, 0)
	text, err := os.ReadFile(device)
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range [][]byte{text[:1<<20], text[len(text)-1<<20:]} {
		if strings.Trim(string(end), "\x00") != "" {
			t.Error("an end of the device, where signatures lie, was written to")
		}
	}
}
