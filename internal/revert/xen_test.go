package revert

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	ourUUID   = "6f9c1f0e-8f1c-4f5c-9c7b-0a5d2b1c3e4f"
	otherUUID = "00000000-0000-0000-0000-000000000000"
)

// What `xl list -v` of Xen 4.17 prints.
const xlList = `Name                                        ID   Mem VCPUs	State	Time(s)   UUID                            Reason-Code	Security Label
Domain-0                                     0  1024     1     r-----      15.2 00000000-0000-0000-0000-000000000000        -                -
iotax-r-guest                                3   256     2     -b----       2.1 6f9c1f0e-8f1c-4f5c-9c7b-0a5d2b1c3e4f        -                -
`

func TestDomainID(t *testing.T) {
	for name, tt := range map[string]struct{ list, want string }{
		"there":             {xlList, "3"},
		"none":              {"Name ID\n", ""},
		"without name":      {strings.Replace(xlList, "iotax-r-guest", "(null)       ", 1), "3"},
		"crashed":           {strings.Replace(xlList, "-b----", "---sc-", 1), "3"},
		"paused":            {strings.Replace(xlList, "-b----", "--p---", 1), "3"},
		"dying":             {strings.Replace(xlList, "-b----", "--ps-d", 1), ""},
		"ours by name only": {strings.Replace(xlList, ourUUID, "11111111-2222-3333-4444-555555555555", 1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := domainID(tt.list, ourUUID); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDomainRefusesWhatIsNotOurs(t *testing.T) {
	j := open(t, t.TempDir(), "r")
	for _, act := range []Act{
		Domain("", ourUUID), Domain("Domain-0", otherUUID), Domain("iotax-other-guest", ourUUID), Domain("iotax-r", ourUUID), Domain("iotax-r-*", ourUUID), Domain("iotax-r-/x", ourUUID),
		Domain("iotax-r-guest", ""), Domain("iotax-r-guest", "3"), Domain("iotax-r-guest", strings.ToUpper(ourUUID)),
	} {
		if _, err := j.Add(act); err == nil {
			t.Errorf("Add took %s", act)
		}
		if err := undo(t.Context(), origin{Run: "r"}, Entry{Act: act}); err == nil {
			t.Errorf("undo took %s", act)
		}
	}
}

// fakeXL puts a toolstack on PATH whose only domain lies in a file, and which notes what it is asked.
func fakeXL(t *testing.T, list, destroy string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write(t, filepath.Join(dir, "list"), list)
	script := "#!/bin/sh\necho \"$*\" >> " + dir + "/asked\ncase $1 in\nlist) cat " + dir + "/list ;;\ndestroy) " + destroy + " ;;\nesac\n"
	if err := os.WriteFile(filepath.Join(dir, "xl"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir
}

func asked(t *testing.T, dir string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "asked"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func TestDomainIsDestroyedOnce(t *testing.T) {
	dir := fakeXL(t, xlList, `: > "$(dirname "$0")/list"`)
	act := Domain(DomainName("r", "guest"), ourUUID)
	ended, cancel := context.WithCancel(t.Context())
	cancel() // as after Ctrl-C
	for range 2 {
		if err := undo(ended, origin{Run: "r"}, Entry{Act: act}); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff([]string{"list -v", "destroy 3", "list -v"}, asked(t, dir)); d != "" {
		t.Error(d)
	}
}

func TestDomainThatDoesNotGo(t *testing.T) {
	fakeXL(t, xlList, "echo 'libxl: error: no answer' >&2; exit 1")
	act := Domain(DomainName("r", "guest"), ourUUID)
	if err := undo(t.Context(), origin{Run: "r"}, Entry{Act: act}); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("got %v, want xl's own words", err)
	}
	fakeXL(t, xlList, `: > "$(dirname "$0")/list"; exit 1`) // it ended by itself just then
	if err := undo(t.Context(), origin{Run: "r"}, Entry{Act: act}); err != nil {
		t.Error(err)
	}
}

// TestDomainFreesItsLoops has a script of Xen that bound a file to a loop device and was killed before it said so.
func TestDomainFreesItsLoops(t *testing.T) {
	fakeXL(t, "", "exit 1")
	dir := t.TempDir()
	var devices []string
	for _, name := range []string{"ours", "other"} {
		file := filepath.Join(dir, name)
		write(t, file, strings.Repeat("\x00", 1<<20))
		out, err := exec.Command("losetup", "-f", "--show", file).CombinedOutput()
		if err != nil {
			t.Skipf("no loop device to be had: %s", out)
		}
		dev := strings.TrimSpace(string(out))
		t.Cleanup(func() { _ = exec.Command("losetup", "-d", dev).Run() })
		devices = append(devices, dev)
	}
	act := Domain(DomainName("r", "guest"), ourUUID, "/dev/vg/lv", filepath.Join(dir, "ours"))
	for range 2 {
		if err := undo(t.Context(), origin{Run: "r"}, Entry{Act: act}); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []bool{false, true} {
		text, _ := os.ReadFile(filepath.Join("/sys/block", filepath.Base(devices[i]), "loop/backing_file"))
		if bound := strings.HasPrefix(string(text), dir); bound != want {
			t.Errorf("%s is bound to %q", devices[i], text)
		}
	}
}
