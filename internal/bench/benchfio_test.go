package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// fioPlot is the version of the PyPI package that has bench-fio; another one may take other options.
const fioPlot = "1.1.21"

// installBenchFio puts bench-fio into a Python environment of its own in the cache, unless it is there, and returns
// its path. The error says why this host cannot.
func installBenchFio(ctx context.Context, cache string) (program string, err error) {
	dir := filepath.Join(cache, "peers", "fio-plot-"+fioPlot)
	program = filepath.Join(dir, "bin", "bench-fio")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for _, argv := range [][]string{
		{"python3", "-m", "venv", dir},
		{filepath.Join(dir, "bin", "pip"), "install", "--quiet", "fio-plot==" + fioPlot},
	} {
		if _, err := command(ctx, argv[0], argv[1:]...); err != nil {
			os.RemoveAll(dir)
			return "", err
		}
	}
	return program, nil
}

// benchFio runs bench-fio as it comes, told only to draw offsets as the others do: by default it, like fio, repeats
// the same ones each time.
func benchFio(b *testing.B, program, path string) func(context.Context, workload, uint64) (float64, error) {
	// It writes its job file here and leaves it.
	b.Cleanup(func() { os.Remove("/tmp/" + filepath.Base(path) + "-tmpjobfile.fio") })
	dir := b.TempDir()
	b.Setenv("PYTHONUTF8", "1") // it refuses to draw its table in another encoding
	return func(ctx context.Context, w workload, _ uint64) (float64, error) {
		depth := strconv.Itoa(w.depth)
		_, err := command(ctx, program, "--target", path, "--type", "file", "--size", strconv.Itoa(volumeSize), "--output", dir,
			"--mode", "randread", "--block-size", "4k", "--iodepth", depth, "--numjobs", "1", "--engine", "libaio", "--direct", "1",
			"--runtime", strconv.Itoa(int(runtime.Seconds())), "--time-based", "--quiet", "--extra-opts", "randrepeat=0", "norandommap=1")
		if err != nil {
			return 0, err
		}
		result := filepath.Join(dir, filepath.Base(path), "4k", fmt.Sprintf("randread-%s-1.json", depth))
		out, err := os.ReadFile(result)
		if err != nil {
			return 0, err
		}
		os.Remove(result) // what is read next time is new
		return iops(out)
	}
}
