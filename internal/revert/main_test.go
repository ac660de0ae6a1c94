package revert

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// childEnv makes the test binary play a run that is to be killed: "<journal folder>:<scratch parent>".
const childEnv = "REVERT_TEST_CHILD"

func TestMain(m *testing.M) {
	if dirs := os.Getenv(childEnv); dirs != "" {
		if err := child(filepath.SplitList(dirs)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// child makes a scratch folder with a file, a journalled process and a marked one, says so, and waits for its end.
func child(dirs []string) error {
	j, err := Open(dirs[0], "killed")
	if err != nil {
		return err
	}
	scratch, err := j.Scratch(dirs[1])
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(scratch, "volume"), []byte("x"), 0o600); err != nil {
		return err
	}
	known, err := sleeper("")
	if err != nil {
		return err
	}
	act, err := Process(known)
	if err != nil {
		return err
	}
	if _, err := j.Add(act); err != nil {
		return err
	}
	if _, err := j.Add(Marked("killed/1")); err != nil {
		return err
	}
	hidden, err := sleeper(MarkEnv + "=killed/1")
	if err != nil {
		return err
	}
	fmt.Println("ready", known, hidden)
	time.Sleep(time.Hour)
	return nil
}

// sleeper starts a process that outlives its parent.
func sleeper(env string) (pid int, err error) {
	cmd := exec.Command("sleep", "3600")
	cmd.Env = append(os.Environ(), childEnv+"=", env)
	err = cmd.Start()
	if err != nil {
		return 0, err
	}
	return cmd.Process.Pid, nil
}
