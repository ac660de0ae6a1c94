package iometer

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// fio must accept every load and draw what the load says it will: the I/Os that it logs are counted by size, direction
// and order. Its null engine sends them nowhere, so that a file as large as a disk costs nothing.
func TestRealFio(t *testing.T) {
	fio, err := exec.LookPath("fio")
	if err != nil {
		t.Skip("fio is not installed")
	}
	for name, tt := range loads {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := tt.spec.Load()
			if err != nil {
				t.Fatal(err)
			}
			const ios = 40_000
			dir := t.TempDir()
			args := []string{
				"--name=x", "--filename=x", "--ioengine=null", "--size=16g", "--io_size=1t", "--randseed=7",
				"--randrepeat=0", "--write_iolog=" + filepath.Join(dir, "log"), "--output-format=json", "--thread",
			}
			if l.ThinkTime == 0 {
				args = append(args, "--number_ios="+strconv.Itoa(ios))
			} else {
				args = append(args, "--number_ios=400")
			}
			reads := runFio(t, fio, append(args, l.args()...))
			got := logged(t, filepath.Join(dir, "log"))
			if want := nearest(tt.spec.mix()).mix(); got.distance(want) > 0.015 {
				t.Errorf("%.3f of the I/Os differ:\ngot  %v\nwant %v", got.distance(want), got, want)
			}
			if want := tt.spec.ReadShare(); reads < want-0.01 || reads > want+0.01 {
				t.Errorf("%.3f of the I/Os are reads, want %.3f", reads, want)
			}
		})
	}
}

// args writes a load as fio's arguments.
func (l Load) args() []string {
	args := []string{"--rw=" + l.RW, "--bs=" + strconv.FormatInt(l.BS, 10), "--rwmixread=" + strconv.Itoa(l.RWMixRead)}
	if strings.HasPrefix(l.RW, "rand") {
		args = append(args, "--norandommap=1")
	}
	for k, v := range l.Options() {
		args = append(args, "--"+k+"="+v)
	}
	return args
}

// runFio runs fio and returns the share of reads that it reports.
func runFio(t *testing.T, fio string, args []string) float64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, fio, args...)
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	type direction struct {
		Total float64 `json:"total_ios"`
	}
	var result struct {
		Jobs []struct {
			Error       int
			Read, Write direction
		}
	}
	if err := json.Unmarshal(out, &result); err != nil || len(result.Jobs) != 1 || result.Jobs[0].Error != 0 {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	job := result.Jobs[0]
	return job.Read.Total / (job.Read.Total + job.Write.Total)
}

// logged counts the I/Os in a log of fio by their kinds. One that begins where the last in its direction ended, or at
// the start, is sequential.
func logged(t *testing.T, path string) mix {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, next, count := mix{}, map[bool]int64{}, 0.0
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) < 4 { // "file action offset length", with a time before it since fio 3.31
			continue
		}
		var offset, size int64
		action := f[len(f)-3]
		if _, err := fmt.Sscan(f[len(f)-2]+" "+f[len(f)-1], &offset, &size); err != nil || action != "read" && action != "write" {
			continue
		}
		read := action == "read"
		m[kind{size, read, offset != next[read] && offset != 0}]++
		next[read] = offset + size
		count++
	}
	if count < 100 {
		t.Fatalf("%v I/Os in the log", count)
	}
	for k := range m {
		m[k] /= count
	}
	return m
}
