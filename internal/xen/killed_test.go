package xen_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/sys"
	"github.com/iotax/iotax/internal/xen"
	"github.com/iotax/iotax/internal/xen/xlcfg"
)

// childEnv makes the test binary play a run that is to be killed: "<folder>:<kernel>:<initrd>".
const childEnv = "IOTAX_XEN_TEST_CHILD"

func TestMain(m *testing.M) {
	if args := os.Getenv(childEnv); args != "" {
		if err := child(filepath.SplitList(args)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// child starts a domain with a file as its disk, says how far it is, and waits for its end.
func child(args []string) error {
	ctx := context.Background()
	h, why, _ := xen.Look(ctx, "/", sys.Exec{})
	if why != "" {
		return fmt.Errorf("%s", why)
	}
	j, err := revert.Open(filepath.Join(args[0], "journal"), "killed")
	if err != nil {
		return err
	}
	j.After = func(revert.Entry) { fmt.Println("journalled") }
	_, err = xen.Start(ctx, xen.Config{
		Host: h, Type: "pv", CPUs: 1, Memory: 256 << 20, Image: &guest.Image{Kernel: args[1], Initrd: args[2]},
		Disks: []xlcfg.Disk{{VDev: "xvda", Path: filepath.Join(args[0], "file"), Format: "raw", Backend: "phy"}},
		Dir:   args[0], Name: "guest", Journal: j, Runner: sys.Exec{},
	})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
	return nil
}

// TestKilled kills a run outright at several moments, and lets the next one clean up.
func TestKilled(t *testing.T) {
	for _, moment := range []struct {
		word string
		then time.Duration
	}{{"journalled", 0}, {"journalled", time.Second}, {"journalled", 3 * time.Second}, {"ready", 0}} {
		t.Run(fmt.Sprint(moment.word, " ", moment.then), func(t *testing.T) {
			c := config(t, "pv")
			file(t, c.Dir, "file")
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			run := exec.Command(self)
			run.Env = append(os.Environ(), childEnv+"="+strings.Join([]string{c.Dir, c.Image.Kernel, c.Image.Initrd}, ":"))
			out, err := run.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			await(t, out, moment.word)
			time.Sleep(moment.then)
			if err := run.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			_ = run.Wait() // it was killed
			list, _ := exec.Command("xl", "list").Output()
			t.Logf("left behind: %d domains", bytes.Count(list, []byte("iotax-killed")))
			for range 2 {
				if err := revert.Replay(t.Context(), filepath.Join(c.Dir, "journal", "killed.jsonl")); err != nil {
					t.Fatal(err)
				}
			}
			checkNothingLeft(t, c.Dir)
		})
	}
}

// await reads until the child says a word.
func await(t *testing.T, out interface{ Read([]byte) (int, error) }, word string) {
	t.Helper()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if lines.Text() == word {
			return
		}
		if lines.Text() != "journalled" {
			t.Log(lines.Text())
		}
	}
	t.Fatalf("the child ended without %q", word)
}
