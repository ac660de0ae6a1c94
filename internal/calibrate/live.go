package calibrate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/fio"
	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/measure"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// Host is a scratch file on this host and the fio that loads it. The file has no name: it goes with this process,
// however that ends.
type Host struct {
	fio  string
	file *os.File
	size int64
}

// OpenHost makes a scratch file of a size in a folder and fills it with random data.
func OpenHost(dir string, size int64) (*Host, error) {
	program, err := exec.LookPath("fio")
	if err != nil {
		return nil, errkind.WithHint(errkind.Userf("fio is missing"), "`make setup` installs it")
	}
	f, err := os.OpenFile(dir, os.O_RDWR|unix.O_TMPFILE, 0o600)
	if err != nil {
		return nil, errkind.Userf("no scratch file can be made in %s: %w", dir, err)
	}
	if _, err := io.CopyN(f, rand.Reader, size); err != nil {
		return nil, errors.Join(errkind.Userf("the scratch file in %s cannot be filled: %w", dir, err), f.Close())
	}
	return &Host{fio: program, file: f, size: size}, f.Sync()
}

// Close lets the file go.
func (h *Host) Close() error { return h.file.Close() }

// window runs one window on the scratch file.
func (h *Host) window(ctx context.Context, w spec.Workload, runtime time.Duration, seed uint64) (record.Window, error) {
	job := fio.Job{
		Name: w.Name, Filename: fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), h.file.Fd()), Size: h.size, RW: w.RW, BS: w.BS,
		IODepth: w.IODepth, FDataSync: w.FDataSync, Direct: true, Runtime: runtime, RandSeed: seed,
		Extra: map[string]string{"clocksource": "clock_gettime", "disk_util": "0"},
	}
	text, err := job.Text()
	if err != nil {
		return record.Window{}, err
	}
	started := time.Now()
	r, err := load.Run(ctx, load.Request{
		Argv: append([]string{h.fio}, fio.Args("-")...), Input: text, Timeout: runtime + 20*time.Second,
	})
	if err != nil {
		return record.Window{}, err
	}
	if ctx.Err() != nil {
		return record.Window{}, context.Cause(ctx)
	}
	out, err := fio.Parse(r.Output)
	if err != nil {
		return record.Window{}, fmt.Errorf("fio: %w: %s", err, r.Stderr)
	}
	sum := fio.Sum(out.Jobs)
	if fault := sum.Fault(); fault != "" {
		return record.Window{}, fmt.Errorf("%s: %s", fault, r.Stderr)
	}
	return record.Window{
		Status: record.OK, Started: started.UTC(), Elapsed: int64(r.Elapsed), Timed: sum.Runtime,
		Metrics: map[string]float64{
			record.IOPS:      sum.Read.IOPS + sum.Write.IOPS,
			record.Bandwidth: sum.Read.Bandwidth + sum.Write.Bandwidth,
		},
	}, nil
}

// alive compares the scratch file with itself under several names, by real windows.
type alive struct {
	*Host
	memory
}

// liveExperiment is one of half a minute.
const liveExperiment = `
extends: quick
runtime: 300ms
budget: 30s
max_rounds: 12
stacks: [virtio-blk, sata]
workloads: [randread-4k-q32, randwrite-4k-q32]
`

// Live makes n such comparisons, in which nothing can differ.
func (h *Host) Live(ctx context.Context, n int, seed uint64) (Row, error) {
	e, err := spec.Parse("live.yaml", []byte(liveExperiment))
	if err != nil {
		return Row{}, err
	}
	return h.compare(ctx, e, n, seed)
}

func (h *Host) compare(ctx context.Context, e spec.Experiment, n int, seed uint64) (Row, error) {
	row := Row{Name: "the same file under four names"}
	draw := mathrand.New(mathrand.NewPCG(seed, 0))
	for range n {
		p, err := plan.Make(e, draw.Uint64()>>11)
		if err != nil {
			return row, err
		}
		a := &alive{Host: h}
		run, err := measure.Run(ctx, measure.Config{Plan: p, Run: record.Run{ID: "live", Seed: p.Seed}, Executor: a, Sink: a})
		if err != nil {
			return row, err
		}
		o := judge(analyse.Analyse(run, p.Experiment, a.windows), nil, 0)
		row.add(o.tally())
	}
	return row, nil
}

// Boot has nothing to boot.
func (a *alive) Boot(_ context.Context, b plan.Boot, _ string) (measure.Session, error) {
	return &named{alive: a, boot: b}, nil
}

// named is the file under the names of a plan.
type named struct {
	*alive
	boot plan.Boot
}

// Window runs fio, whatever name it goes by.
func (n *named) Window(ctx context.Context, w plan.Window, l spec.Workload) (record.Window, error) {
	return n.window(ctx, l, w.Runtime, w.Seed)
}

// Facts says that all stacks are what they should be.
func (n *named) Facts() (record.Boot, []record.Stack) {
	return record.Boot{Index: n.boot.Index}, []record.Stack{{Name: "virtio-blk"}, {Name: "sata"}}
}

// Close has nothing to undo: the file serves the next run.
func (n *named) Close() error { return nil }
