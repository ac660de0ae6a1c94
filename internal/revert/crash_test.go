package revert

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

func TestKilledRunIsReplayed(t *testing.T) {
	journals, parent := t.TempDir(), t.TempDir()
	run := exec.Command(os.Args[0])
	run.Env = append(os.Environ(), childEnv+"="+journals+":"+parent)
	stdout, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Process.Kill() })
	said, _ := bufio.NewReader(stdout).ReadString('\n')
	var known, hidden int
	if _, err := fmt.Sscanf(said, "ready %d %d\n", &known, &hidden); err != nil {
		t.Fatalf("the child said %q: %v", said, err)
	}
	t.Cleanup(func() {
		for _, pid := range []int{known, hidden} {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})

	path := filepath.Join(journals, "killed.jsonl")
	if dead, err := Dead(journals); err != nil || len(dead) != 0 {
		t.Errorf("Dead while the owner lives: %v, %v", dead, err)
	}
	if err := Replay(context.Background(), path); err == nil {
		t.Error("Replay took the journal of a living owner")
	}
	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait() // it was killed

	dead, err := Dead(journals)
	if err != nil || len(dead) != 1 || dead[0].Run != "killed" || len(dead[0].Entries) != 3 {
		t.Fatalf("Dead = %+v, %v; want one journal with 3 entries", dead, err)
	}
	if err := Replay(context.Background(), dead[0].Path); err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{known, hidden} {
		if s, err := stat(pid); err == nil && s.State != "Z" {
			t.Errorf("process %d still runs", pid)
		}
	}
	checkEmpty(t, parent)
	checkEmpty(t, journals)
	if err := Replay(context.Background(), path); err != nil {
		t.Errorf("Replay of a journal that is gone: %v", err)
	}
}

func checkEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("%s is left in %s", e.Name(), dir)
	}
}
