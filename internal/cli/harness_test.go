package cli

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/store"
	"github.com/iotax/iotax/internal/sys"
)

// started is when everything in these tests happened.
var started = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// testApp is the real command line in a world of its own. Only what needs QEMU or minutes is a fake, which
// says what it was asked to do: see fake.
func testApp(dir string, env map[string]string, stdout, stderr io.Writer, args ...string) *app {
	a := newApp(sys.World{
		Args: args, Dir: dir, Stdout: stdout, Stderr: stderr,
		Env:        func(key string) (string, bool) { v, ok := env[key]; return v, ok },
		Now:        func() time.Time { return started },
		Seed:       func() uint64 { return 41 },
		IsTerminal: func(any) bool { return false },
		Width:      func(any) int { return sys.DefaultWidth },
		Runner:     sys.Exec{},
	})
	a.measure = func(_ context.Context, o runOptions) error {
		if o.Plan { // needs nothing: the real one
			return a.plan(o)
		}
		return fake(a, "run", o)
	}
	a.examine = func(_ context.Context, o doctorOptions) error { return fake(a, "doctor", o) }
	a.tidy = func(context.Context) error { return fake(a, "clean", nil) }
	return a
}

// fake prints the deed and its options, the ones that were not given left out, as one line of JSON.
func fake(a *app, deed string, options any) error {
	text, err := json.Marshal(options)
	if err != nil {
		return err
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	for key, value := range all {
		switch string(value) {
		case "null", `""`, "false":
			delete(all, key)
		case "0":
			if key != "Seed" { // a seed of 0 was given, else it would be null
				delete(all, key)
			}
		}
	}
	return json.NewEncoder(a.Stdout).Encode(map[string]any{"fake " + deed: all})
}

// experiment is a small one for a stored run.
var smallExperiment = spec.Experiment{
	Name: "quick", Title: "A small experiment", Size: 1 << 30, Runtime: time.Second, Budget: time.Minute, Target: 0.05, MinRounds: 2,
	MaxRounds: 4, Boots: 1, Guest: spec.Guest{CPUs: 2, Memory: 512 << 20},
	Stacks: []spec.Stack{{
		Name: "virtio-blk", Title: "virtio-blk, raw", Format: "raw", Bus: "virtio-blk",
		Cache: "none", AIO: "io_uring",
	}},
	Workloads: []spec.Workload{{
		Name: "randread-4k-qd1", Title: "4 KiB random read, iodepth 1", RW: "randread",
		BS: 4096, IODepth: 1,
	}},
}

// storeRun puts a run with a few windows into the store of a state folder.
func storeRun(state, id, status string) error {
	return storeWindows(state, record.Run{ID: id, Started: started, Status: status}, smallExperiment)
}

// storeTuned stores a complete run, newer than those of storeRun, of two stacks that differ by an iothread. The one without it
// does half of what the other does.
func storeTuned(state, id string) error {
	e := smallExperiment
	tuned := e.Stacks[0]
	tuned.Name, tuned.Title, tuned.IOThread = "tuned", "tuned", true
	e.Stacks = []spec.Stack{e.Stacks[0], tuned}
	return storeWindows(state, record.Run{ID: id, Started: started.Add(time.Hour), Status: record.Complete}, spec.Complete(e))
}

// storeWindows stores a run of four rounds, and what there is to say of it.
func storeWindows(state string, run record.Run, e spec.Experiment) error {
	s, err := store.Open(filepath.Join(state, storeFile))
	if err != nil {
		return err
	}
	defer s.Close()
	run.Ended, run.Seed, run.Preset, run.Version = run.Started.Add(time.Minute), 41, "quick", "test"
	run.Host = record.Host{Accelerator: "tcg", CPUs: 2, Kernel: "6.1"}
	iops := map[string]float64{spec.Host: 20000, spec.Control: 20100, "virtio-blk": 5000, "tuned": 10000}
	stacks := []string{spec.Host}
	for _, st := range e.Stacks {
		run.Stacks = append(run.Stacks, record.Stack{Name: st.Name, Title: st.Title, Durability: record.Durable})
		stacks = append(stacks, st.Name)
	}
	if err := s.CreateRun(run, e); err != nil {
		return err
	}
	stacks = append(stacks, spec.Control)
	for round := range 4 {
		for seq, stack := range stacks {
			w := record.Window{
				Round: round, Seq: seq, Stack: stack, Workload: "randread-4k-qd1", Seed: 1,
				Discard: round == 0, Status: record.OK, Started: run.Started.Add(time.Duration(round*len(stacks)+seq) * time.Second),
				Elapsed: 1e9, Timed: 1e9,
				Metrics: map[string]float64{record.IOPS: iops[stack] + float64(round), record.Bandwidth: 4096 * iops[stack]},
			}
			if err := s.SaveWindow(run.ID, w); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("IOTAX_STATE", filepath.Join(e.WorkDir, "state"))
			e.Values[exitKey{}] = new(errkind.Code)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"iotax": runIotax, "code": checkCode, "store-run": scriptStoreRun, "store-tuned": scriptStoreTuned,
		},
	})
}

type exitKey struct{}

// runIotax is `iotax ARGS` in a script: the real command line, inside the test's own process.
func runIotax(ts *testscript.TestScript, neg bool, args []string) {
	env := map[string]string{}
	for _, key := range []string{"HOME", "IOTAX_STATE", "IOTAX_CACHE", "PATH"} {
		env[key] = ts.Getenv(key)
	}
	a := testApp(ts.MkAbs("."), env, ts.Stdout(), ts.Stderr(), args...)
	code := errkind.Code(a.main(context.Background()))
	*ts.Value(exitKey{}).(*errkind.Code) = code
	if failed := code != errkind.OK; failed != neg {
		ts.Fatalf("exit code %d", code)
	}
}

// checkCode is `code N` in a script: the exit code of the iotax before it.
func checkCode(ts *testscript.TestScript, _ bool, args []string) {
	var want errkind.Code
	ts.Check(json.Unmarshal([]byte(args[0]), &want))
	if got := *ts.Value(exitKey{}).(*errkind.Code); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// scriptStoreRun is `store-run ID STATUS` in a script.
func scriptStoreRun(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(storeRun(ts.Getenv("IOTAX_STATE"), args[0], args[1]))
}

// scriptStoreTuned is `store-tuned ID` in a script.
func scriptStoreTuned(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(storeTuned(ts.Getenv("IOTAX_STATE"), args[0]))
}
