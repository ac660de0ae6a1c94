package device_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/provision/device"
	"github.com/iotax/iotax/internal/provision/ground"
	"github.com/iotax/iotax/internal/provision/provisiontest"
	"github.com/iotax/iotax/internal/provision/slice"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
)

func TestConformanceOnFiles(t *testing.T) {
	provisiontest.Run(t, provisiontest.Suite{
		NewIn: func(t *testing.T, dir string) provision.Driver {
			provisiontest.NeedLoop(t)
			return device.Driver{Ground: ground.Files{Dir: dir}}
		},
		Stack: spec.Stack{Format: "raw", Storage: "device"},
	})
}

func TestConformanceOnRegions(t *testing.T) {
	var slices *slice.Driver
	provisiontest.Run(t, provisiontest.Suite{
		NewIn: func(t *testing.T, dir string) provision.Driver {
			slices = &slice.Driver{
				Device: provisiontest.Loop(t, 64<<20),
				Check:  func(context.Context, string) ([]string, error) { return nil, nil },
			}
			t.Cleanup(func() { slices.Close() })
			return device.Driver{Ground: &ground.Regions{Slices: slices, Dir: dir}}
		},
		Stack: spec.Stack{Format: "raw", Storage: "device"},
		Ended: func() { slices.Close() },
		Left: func(t *testing.T) []string {
			left, err := filepath.Glob("/sys/class/block/" + filepath.Base(slices.Device) + "p*")
			if err != nil {
				t.Fatal(err)
			}
			return left
		},
	})
}

func TestReportSaysWhatTheDeviceIs(t *testing.T) {
	provisiontest.NeedLoop(t)
	dir := t.TempDir()
	j, err := revert.Open(t.TempDir(), "r")
	if err != nil {
		t.Fatal(err)
	}
	scratch, err := j.Scratch(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := device.Driver{Ground: ground.Files{Dir: scratch}}
	r := provision.Request{Stack: spec.Stack{Name: "s"}, Size: 4096 * 3, Serial: "s"}
	need, err := d.Need(r)
	if err != nil || need != 1<<20 {
		t.Errorf("Need: %d, %v", need, err)
	}
	v, err := d.Create(t.Context(), j, r)
	if err != nil {
		t.Fatal(err)
	}
	report, err := d.Report(t.Context(), v)
	if err != nil || report.Properties["device"] != "loop device with direct I/O on a file" || report.RealSize != 1<<20 {
		t.Errorf("Report: %+v, %v", report, err)
	}
	if err := j.Undo(t.Context()); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// poor is a ground that has no more room.
type poor struct{}

var errNoRoom = errors.New("no room")

func (poor) Claim(context.Context, *revert.Journal, string, int64) (string, error) {
	return "", errNoRoom
}

func TestGroundWithoutRoom(t *testing.T) {
	d := device.Driver{Ground: poor{}}
	if _, err := d.Create(t.Context(), nil, provision.Request{Size: 4096}); !errors.Is(err, errNoRoom) {
		t.Errorf("%v", err)
	}
	if _, err := d.Claims(provision.Request{Size: 1}); errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), "4096") {
		t.Errorf("a size that no disk has: %v", err)
	}
}
