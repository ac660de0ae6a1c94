package revert

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestRemoveRefusesWhatIsNotOurs(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	j := open(t, t.TempDir(), "r")
	for _, path := range []string{
		"", "/", home, ".", "..", "iotax-r", "/etc/passwd", "/tmp", "/tmp/iotax-other/x",
		"/tmp/iotax-r/../x", "/tmp/iotax-r/..", "/tmp/iotax-r//x", "/tmp/my-iotax-r/x",
	} {
		if _, err := j.Add(Remove(path)); err == nil {
			t.Errorf("Add took %q", path)
		}
		// A journal is a file: whatever it says is checked again.
		if err := undo(t.Context(), origin{Run: "r"}, Entry{Act: Remove(path)}); err == nil {
			t.Errorf("undo took %q", path)
		}
	}
}

func TestRemoveRefusesUnmarkedFolder(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "iotax-r")
	precious := filepath.Join(dir, "precious")
	for _, marker := range []string{"", "other\n"} {
		if err := os.MkdirAll(precious, 0o700); err != nil {
			t.Fatal(err)
		}
		if marker != "" {
			if err := os.WriteFile(filepath.Join(dir, Marker), []byte(marker), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, path := range []string{dir, precious} {
			if err := undo(t.Context(), origin{Run: "r"}, Entry{Act: Remove(path)}); err == nil {
				t.Errorf("undo took %s, marked %q", path, marker)
			}
		}
		if _, err := os.Stat(precious); err != nil {
			t.Error(err)
		}
	}
}

func TestScratchIsRemovedFromEveryState(t *testing.T) {
	states := map[string]func(t *testing.T, dir string){
		"never made":    func(*testing.T, string) {},
		"made":          func(t *testing.T, dir string) { mkdir(t, dir) },
		"marker empty":  func(t *testing.T, dir string) { mkdir(t, dir); write(t, filepath.Join(dir, Marker), "") },
		"marked":        func(t *testing.T, dir string) { mkdir(t, dir); write(t, filepath.Join(dir, Marker), "r\n") },
		"with contents": func(t *testing.T, dir string) { mkdir(t, dir); fill(t, dir) },
	}
	for name, make := range states {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			dir := filepath.Join(parent, "iotax-r")
			make(t, dir)
			for range 2 {
				if err := undo(t.Context(), origin{Run: "r"}, Entry{Act: Remove(dir)}); err != nil {
					t.Fatal(err)
				}
			}
			checkEmpty(t, parent)
		})
	}
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func fill(t *testing.T, dir string) {
	t.Helper()
	write(t, filepath.Join(dir, Marker), "r\n")
	mkdir(t, filepath.Join(dir, "sub"))
	write(t, filepath.Join(dir, "sub", "file"), "x")
}

func TestLinksAreNotFollowed(t *testing.T) {
	precious := filepath.Join(t.TempDir(), "precious")
	write(t, precious, "x")
	j := open(t, t.TempDir(), "r")
	parent := t.TempDir()
	dir, err := j.Scratch(parent)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(precious), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	add(t, j, Remove(filepath.Join(dir, "link", "precious")))
	if err := j.Undo(t.Context()); err == nil {
		t.Error("a path that leads out of the scratch folder was taken")
	}
	if _, err := os.Stat(precious); err != nil {
		t.Errorf("removed through a link: %v", err)
	}
	checkEmpty(t, parent)
}

func TestScratchNeedsAPlace(t *testing.T) {
	j := open(t, t.TempDir(), "r")
	if _, err := j.Scratch(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing parent: %v", err)
	}
	parent := t.TempDir()
	mkdir(t, filepath.Join(parent, "iotax-r"))
	if _, err := j.Scratch(parent); err == nil {
		t.Error("took a folder that existed before")
	}
	if err := j.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(parent, "iotax-r")); err != nil {
		t.Errorf("removed a folder that was refused: %v", err)
	}
}

func TestProcessIsEndedAndAReusedNumberIsNot(t *testing.T) {
	for _, script := range []string{"echo; exec sleep 3600", "trap '' TERM; echo; while :; do sleep 0.05; done"} {
		cmd := exec.Command("sh", "-c", script)
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		if _, err := stdout.Read(make([]byte, 1)); err != nil { // it is set up
			t.Fatal(err)
		}
		act, err := Process(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		other := Act{act.Kind, map[string]string{"pid": act.Args["pid"], "start": "1"}}
		if err := undo(t.Context(), origin{}, Entry{Act: other}); err != nil {
			t.Fatal(err)
		}
		if s, err := stat(cmd.Process.Pid); err != nil || s.State == "Z" {
			t.Fatalf("a process with another start time was ended: %v", err)
		}
		if err := undo(t.Context(), origin{}, Entry{Act: act}); err != nil {
			t.Fatal(err)
		}
		if s, err := stat(cmd.Process.Pid); err != nil || s.State != "Z" {
			t.Errorf("the process runs on: %v, %v", s.State, err)
		}
		_ = cmd.Wait() // it was killed
		if err := undo(t.Context(), origin{}, Entry{Act: act}); err != nil {
			t.Errorf("second undo: %v", err)
		}
	}
}

func TestProcessRefusesInit(t *testing.T) {
	for _, pid := range []string{"0", "1", "-1", "x"} {
		act := Act{"process", map[string]string{"pid": pid, "start": "1"}}
		if err := undo(t.Context(), origin{}, Entry{Act: act}); err == nil {
			t.Errorf("took process %s", pid)
		}
	}
}

func TestSysfsIsWrittenBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scheduler")
	for _, tt := range []struct{ now, old, want string }{
		{"none mq-deadline [bfq]\n", "none", "none"},
		{"[none] mq-deadline bfq\n", "none", "[none] mq-deadline bfq\n"}, // never changed: not written
		{"64\n", "0", "0"},
	} {
		write(t, path, tt.now)
		if err := writeBack(path, tt.old); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != tt.want {
			t.Errorf("after %q: %q, want %q", tt.now, got, tt.want)
		}
	}
	if err := writeBack(path+".gone", "0"); err != nil {
		t.Errorf("setting of a device that is gone: %v", err)
	}
	if got := Sysfs("/sys/x", "none [bfq]\n").Args["old"]; got != "bfq" {
		t.Errorf("old value %q", got)
	}
	for _, bad := range []string{path, "/sys/../etc/passwd", "/etc/passwd", "/sys"} {
		if err := undo(t.Context(), origin{}, Entry{Act: Sysfs(bad, "x")}); err == nil {
			t.Errorf("took %s", bad)
		}
	}
}

func TestLoopIsFreedOnlyWithOurFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "disk")
	write(t, file, strings.Repeat("\x00", 1<<20))
	out, err := exec.Command("losetup", "-f", "--show", file).CombinedOutput()
	if err != nil {
		t.Skipf("no loop device to be had: %s", out)
	}
	dev := strings.TrimSpace(string(out))
	t.Cleanup(func() { _ = exec.Command("losetup", "-d", dev).Run() })
	backing := filepath.Join("/sys/block", filepath.Base(dev), "loop/backing_file")

	if err := undo(t.Context(), origin{}, Entry{Act: Loop(dev, file+".other")}); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(backing); strings.TrimSpace(string(text)) != file {
		t.Fatalf("a loop device of another file was freed: %q", text)
	}
	for range 2 {
		if err := undo(t.Context(), origin{}, Entry{Act: Loop(dev, file)}); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(backing); err == nil && strings.TrimSpace(string(text)) == file {
		t.Errorf("%s still backs %s", dev, text)
	}
}

func TestUmountAndMountsProtectTheirContents(t *testing.T) {
	j := open(t, t.TempDir(), "r")
	dir, err := j.Scratch(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(dir, "mnt")
	mkdir(t, target)
	const source = "iotax-test"
	if err := unix.Mount(source, target, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("cannot mount: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(target, unix.MNT_DETACH) })
	write(t, filepath.Join(target, "precious"), "x")

	if err := undo(t.Context(), origin{Run: "r"}, Entry{Act: Remove(dir)}); err == nil {
		t.Error("removed a tree with a mount in it")
	}
	if err := undo(t.Context(), origin{}, Entry{Act: Umount(target, "other")}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(target, "precious")); err != nil {
		t.Fatalf("another mount was taken: %v", err)
	}
	add(t, j, Umount(target, source))
	if err := j.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("scratch folder: %v", err)
	}
}
