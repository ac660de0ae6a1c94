package rig

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/iotax/iotax/internal/hostenv"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/provision/ground"
	"github.com/iotax/iotax/internal/provision/zfs"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
)

// TestLiesOnZFS has zvols as the host's own disk that do not hold what a fill promises: data that compresses to next to
// nothing, and zeros, which ZFS makes holes of. The lab runs this.
func TestLiesOnZFS(t *testing.T) {
	if lack := zfs.Missing(t.Context(), sys.Exec{}); lack.Reason != "" {
		t.Skip(lack.Reason)
	}
	for name, tt := range map[string]struct {
		fill  func(*testing.T, provision.Driver, provision.Volume)
		words string // of the reason, "" for a number that stands
	}{
		"honest":       {filledWith(0), ""},
		"compressible": {filledWith(0.9), "% of their size, where 100 % were meant: the disk has less to do than the load asks for"},
		"zeros":        {zeroed, "% of this volume was never written, or is zeros that are stored nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			p := experimentOf(t, []spec.Workload{reads}, spec.Stack{Name: "null-co", Format: "null-co", Bus: "virtio-blk"})
			journal, err := revert.Open(t.TempDir(), "lies")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := journal.Undo(context.Background()); err != nil {
					t.Error(err)
				}
			})
			dir, err := journal.Scratch(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			d := &zfs.Zvol{Storage: zfs.Storage{Run: sys.Exec{}, Ground: ground.Files{Dir: dir}}}
			stack := spec.Stack{Name: spec.Host, Storage: "zvol", Format: "raw", VolBlockSize: 64 << 10, Compression: "lz4", PrimaryCache: "metadata"}
			v, err := d.Create(t.Context(), journal, provision.Request{Dir: dir, Stack: stack, Size: p.Experiment.Size, Serial: "zvol"})
			if err != nil {
				t.Fatal(err)
			}
			tt.fill(t, d, v)
			storage, err := hostenv.Host{}.Resolve(v.Path)
			if err != nil {
				t.Fatal(err)
			}
			l := onHost(t, Config{
				Plan: p, Journal: journal, Note: func(line string) { t.Log(line) },
				Volumes: map[string]provision.Volume{spec.Host: v}, Devices: map[string][]string{spec.Host: storage.Devices},
				Unwritten: map[string]func(context.Context) (float64, error){
					spec.Host: func(ctx context.Context) (float64, error) { return d.Unwritten(ctx, v) },
				},
			})
			l.window(t, spec.Host, reads)
			report, err := d.Report(t.Context(), v)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", report)
			l.stacks[0].Volume = &record.Volume{CompressRatio: report.CompressRatio} // as package experiment does at the end of a run
			if tt.words == "" {
				l.stands(t, spec.Host, reads)
				return
			}
			l.withheld(t, spec.Host, reads, tt.words)
		})
	}
}

// filledWith fills a volume with data of which a share is zeros.
func filledWith(compressible float64) func(*testing.T, provision.Driver, provision.Volume) {
	return func(t *testing.T, d provision.Driver, v provision.Volume) {
		t.Helper()
		if err := d.Fill(t.Context(), v, provision.Content{Seed: 1, Compressible: compressible}, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// zeroed overwrites three quarters of a volume that was filled with zeros.
func zeroed(t *testing.T, d provision.Driver, v provision.Volume) {
	t.Helper()
	filledWith(0)(t, d, v)
	f, err := os.OpenFile(v.Path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(f, io.LimitReader(nothing{}, v.Size/4*3))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// nothing is an endless stream of zeros.
type nothing struct{}

func (nothing) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
