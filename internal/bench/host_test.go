package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/fio"
	"github.com/iotax/iotax/internal/hostenv"
	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/vm/vmtest"
)

// hostRounds is how many rounds BenchmarkHostBaseline has, an even number.
const hostRounds = 24

// way is one way to measure a file on the host: it returns IOPS.
type way struct {
	name string
	run  func(ctx context.Context, w workload, seed uint64) (float64, error)
}

// BenchmarkHostBaseline asks whether our baseline is honest: the same file read by us, by fio with the same load
// typed by hand, by the same again as the control, and by bench-fio of the PyPI package fio-plot.
func BenchmarkHostBaseline(b *testing.B) {
	image := vmtest.Image(b)
	path := filledFile(b, filepath.Join(vmtest.Dir(b), "host-baseline"))
	plain := func(ctx context.Context, w workload, _ uint64) (float64, error) { return plainFio(ctx, path, w) }
	ways := []way{{"ours", baseline(b, image.Fio, path, runtime)}, {"fio", plain}, {"again", plain}}
	program, missing := installBenchFio(b.Context(), vmtest.CacheDir(b))
	if missing == nil {
		ways = append(ways, way{"bench-fio", benchFio(b, program, path)})
	}
	got := results{}
	for round := range hostRounds {
		for turn := range workloads {
			w := workloads[(turn+round)%len(workloads)]
			for _, i := range order(round, len(ways)) {
				value, err := fresh(b.Context(), path, ways[i], w, uint64(round+1))
				if err != nil {
					b.Fatalf("%s: %v", ways[i].name, err)
				}
				got.add(w.name, ways[i].name, value)
			}
		}
	}
	for _, w := range workloads {
		r := got[w.name]
		floor := ratio(r["again"], r["fio"])
		report(b, w.name+"/against-fio", r["ours"], r["fio"], floor)
		if missing != nil {
			b.Run(w.name+"/against-bench-fio", func(b *testing.B) { b.Skip(missing) })
			continue
		}
		report(b, w.name+"/against-bench-fio", r["ours"], r["bench-fio"], floor)
	}
}

// fresh runs a window on a file of which the host's cache holds nothing.
func fresh(ctx context.Context, path string, way way, w workload, seed uint64) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := provision.DropCache(provision.Volume{Path: path}); err != nil {
		return 0, err
	}
	return way.run(ctx, w, seed)
}

// baseline is the host's load as package rig runs it: on as many CPUs as a guest has, with a watch over the disk.
func baseline(b *testing.B, program, path string, runtime time.Duration) func(context.Context, workload, uint64) (float64, error) {
	allowed, err := proc.Allowed()
	if err != nil {
		b.Fatal(err)
	}
	var cpus []string
	for _, c := range allowed[:min(2, len(allowed))] {
		cpus = append(cpus, strconv.Itoa(c))
	}
	storage, err := hostenv.Host{}.Resolve(path)
	if err != nil {
		b.Fatal(err)
	}
	disk := ""
	if len(storage.Devices) == 1 {
		disk = storage.Devices[0]
	}
	return func(ctx context.Context, w workload, seed uint64) (float64, error) {
		job, err := w.job(path, strings.Join(cpus, ","), seed, runtime)
		if err != nil {
			return 0, err
		}
		r, err := load.Run(ctx, load.Request{
			Argv: append([]string{program}, fio.Args("-")...), Input: job, Disk: disk,
			Timeout: runtime + patience, StallAfter: 4 * time.Second, Step: 100 * time.Millisecond,
		})
		if err = errors.Join(err, ctx.Err()); err != nil {
			return 0, err
		}
		return iops(r.Output)
	}
}

// plainFio runs the host's fio with the command line that a person would type for the load.
func plainFio(ctx context.Context, path string, w workload) (float64, error) {
	out, err := command(ctx, "fio", "--name="+w.name, "--filename="+path, "--size="+strconv.Itoa(volumeSize),
		"--rw=randread", "--bs=4k", "--ioengine=libaio", "--iodepth="+strconv.Itoa(w.depth), "--direct=1",
		"--runtime="+strconv.Itoa(int(runtime.Seconds())), "--time_based", "--randrepeat=0", "--norandommap", "--output-format=json")
	if err != nil {
		return 0, err
	}
	return iops(out)
}

// command runs a program and returns its standard output; the error of a failure has the command and what it said.
func command(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s%s", strings.Join(cmd.Args, " "), err, tail(stdout.String()), tail(stderr.String()))
	}
	return stdout.Bytes(), nil
}

// tail is the end of a long text.
func tail(text string) string {
	const most = 500
	return text[max(0, len(text)-most):]
}
