package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestOpenedAs(t *testing.T) {
	for flags, want := range map[int]File{
		unix.O_RDWR | unix.O_DIRECT | unix.O_CLOEXEC: {FD: 3, Direct: true}, // how QEMU opens with cache.direct=on
		unix.O_RDWR | unix.O_CLOEXEC:                 {FD: 3},               // and with off
		unix.O_RDONLY:                                {FD: 3, ReadOnly: true},
		unix.O_RDWR | unix.O_SYNC:                    {FD: 3, Sync: true},
		unix.O_WRONLY | unix.O_DSYNC:                 {FD: 3, Sync: true},
		unix.O_RDONLY | unix.O_DIRECT:                {FD: 3, ReadOnly: true, Direct: true},
	} {
		octal := fmt.Sprintf("0%o", flags)
		if got, err := openedAs(3, octal); err != nil || got != want {
			t.Errorf("openedAs(%s) = %+v, %v; want %+v", octal, got, err, want)
		}
	}
	if _, err := openedAs(3, "89"); err == nil {
		t.Error("89 is not octal, and was accepted")
	}
}

func TestEffectiveOfOurselves(t *testing.T) {
	path := filepath.Join(t.TempDir(), "image")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := Effective(os.Getpid(), path); err != nil || len(got) != 1 || got[0] != (File{FD: int(f.Fd())}) {
		t.Errorf("Effective = %+v, %v", got, err)
	}
	again, err := os.OpenFile(path, os.O_RDONLY|unix.O_DSYNC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got, err := Effective(os.Getpid(), path); err != nil || len(got) != 2 {
		t.Errorf("opened twice: %+v, %v", got, err)
	}
	if _, err := Effective(os.Getpid(), t.TempDir()); err == nil {
		t.Error("a path that is not open was found")
	}
	if _, err := Effective(os.Getpid(), path+"-gone"); err == nil {
		t.Error("a path that does not exist was found")
	}
	if _, err := Effective(1<<30, path); err == nil {
		t.Error("a process that does not exist has the path open")
	}
}

func TestContradicts(t *testing.T) {
	for _, tt := range []struct {
		seen AIO
		aio  string
		want bool
	}{
		{AIO{}, "threads", false},
		{AIO{}, "native", true},
		{AIO{}, "io_uring", true},
		{AIO{Rings: 1}, "io_uring", false},
		{AIO{Rings: 1}, "native", true},
		{AIO{Contexts: 1}, "native", false},
		{AIO{Contexts: 1}, "io_uring", true},
	} {
		if got := tt.seen.Contradicts(tt.aio); (got != "") != tt.want {
			t.Errorf("%+v.Contradicts(%s) = %q", tt.seen, tt.aio, got)
		}
	}
}
