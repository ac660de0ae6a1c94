package revert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

const (
	politeWait = time.Second     // from SIGTERM to SIGKILL
	finalWait  = 5 * time.Second // from SIGKILL to giving up: longer is a process stuck in the kernel
	poll       = 5 * time.Millisecond
)

// MarkEnv is the environment variable by which Marked finds the processes of a run.
const MarkEnv = "IOTAX_PROCESS"

// Process undoes the start of a process: SIGTERM, then SIGKILL after a second. The process is known by its number
// and its start time, so that another one that got the same number later is left alone. Its parent must reap it.
func Process(pid int) (Act, error) {
	start, err := startTime(pid)
	if err != nil {
		return Act{}, err
	}
	return Act{"process", map[string]string{"pid": strconv.Itoa(pid), "start": strconv.FormatUint(start, 10)}}, nil
}

// Marked undoes the start of every process that has MarkEnv=mark in its environment, children included. Unlike
// Process it can be journalled before the process exists, and it finds what a killed parent leaves behind. mark
// must be unique: begin it with the name of the run.
func Marked(mark string) Act { return Act{"marked", map[string]string{"mark": mark}} }

func undoProcess(ctx context.Context, _ string, args map[string]string) error {
	pid, err := strconv.Atoi(args["pid"])
	if err != nil || pid <= 1 {
		return fmt.Errorf("refused: %q is no process of ours", args["pid"])
	}
	start, err := strconv.ParseUint(args["start"], 10, 64)
	if err != nil {
		return err
	}
	return end(ctx, []victim{{pid, start}})
}

// undoMarked looks again after each round: a marked process may have forked while it was being ended.
func undoMarked(ctx context.Context, _ string, args map[string]string) error {
	for range 3 {
		found, err := marked(args["mark"])
		if err != nil || len(found) == 0 {
			return err
		}
		if err := end(ctx, found); err != nil {
			return err
		}
	}
	return nil
}

type victim struct {
	pid   int
	start uint64
}

func marked(mark string) ([]victim, error) {
	procs, err := procfs.AllProcs()
	if err != nil {
		return nil, err
	}
	want := []byte(MarkEnv + "=" + mark)
	var found []victim
	for _, p := range procs {
		if p.PID == os.Getpid() {
			continue
		}
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.PID))
		if err != nil || !hasField(env, want) {
			continue // ended meanwhile, or another user's
		}
		if start, err := startTime(p.PID); err == nil {
			found = append(found, victim{p.PID, start})
		}
	}
	return found, nil
}

func hasField(env, want []byte) bool {
	for field := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(field, want) {
			return true
		}
	}
	return false
}

// end asks all victims to end, waits, and kills those that did not.
func end(ctx context.Context, victims []victim) error {
	if err := signalAll(victims, syscall.SIGTERM); err != nil {
		return err
	}
	polite, cancel := context.WithTimeout(ctx, politeWait)
	defer cancel()
	if waitGone(polite, victims) {
		return nil
	}
	if err := signalAll(victims, syscall.SIGKILL); err != nil {
		return err
	}
	final, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalWait)
	defer cancel()
	if !waitGone(final, victims) {
		return fmt.Errorf("process %d does not end after SIGKILL", victims[0].pid)
	}
	return nil
}

func signalAll(victims []victim, s syscall.Signal) error {
	var failures []error
	for _, v := range victims {
		p, err := os.FindProcess(v.pid) // holds a pidfd where the kernel has them
		if err != nil {
			continue
		}
		if v.alive() { // asked after the pidfd was opened: the number cannot change hands any more
			if err := p.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
				failures = append(failures, fmt.Errorf("signal process %d: %w", v.pid, err))
			}
		}
		_ = p.Release()
	}
	return errors.Join(failures...)
}

func waitGone(ctx context.Context, victims []victim) bool {
	for {
		alive := false
		for _, v := range victims {
			alive = alive || v.alive()
		}
		if !alive {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(poll):
		}
	}
}

// alive reports whether the process runs. One that ended and was not reaped yet does not.
func (v victim) alive() bool {
	s, err := stat(v.pid)
	return err == nil && s.Starttime == v.start && s.State != "Z" && s.State != "X"
}

func startTime(pid int) (uint64, error) {
	s, err := stat(pid)
	return s.Starttime, err
}

func stat(pid int) (procfs.ProcStat, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	return p.Stat()
}
