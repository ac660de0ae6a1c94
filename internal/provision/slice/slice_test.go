package slice_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/provision/provisiontest"
	"github.com/iotax/iotax/internal/provision/slice"
	"github.com/iotax/iotax/internal/spec"
)

func empty(context.Context, string) ([]string, error) { return nil, nil }

func unused(string) ([]string, error) { return nil, nil }

func TestConformance(t *testing.T) {
	provisiontest.Run(t, provisiontest.Suite{
		New: func(t *testing.T) provision.Driver {
			d := &slice.Driver{Device: provisiontest.Loop(t, 32<<20), Check: empty}
			t.Cleanup(func() { d.Close() })
			return d
		},
		Stack: spec.Stack{Format: "raw"},
	})
}

func request(name string, size int64) provision.Request {
	return provision.Request{Stack: spec.Stack{Name: name}, Size: size, Serial: name}
}

func TestSlicesLieApartAndLeaveTheEdges(t *testing.T) {
	const size = 16 << 20
	dev := provisiontest.Loop(t, size)
	d := &slice.Driver{Device: dev, Check: empty}
	defer d.Close()
	end := int64(slice.Margin)
	for _, name := range []string{"a", "b"} {
		v, err := d.Create(t.Context(), nil, request(name, 6<<20+4096))
		if err != nil {
			t.Fatal(err)
		}
		if v.Offset < end || v.Offset%slice.Margin != 0 || !v.Block || v.Format != "raw" {
			t.Errorf("volume %+v begins before %d or is no slice", v, end)
		}
		end = v.Offset + v.Size
		if err := d.Fill(t.Context(), v, provision.Content{Seed: 1}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Create(t.Context(), nil, request("c", 4096)); errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), "left") {
		t.Errorf("a slice that does not fit: %v", err)
	}
	f, err := os.Open(dev)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	edge, zeros := make([]byte, slice.Margin), make([]byte, slice.Margin)
	for _, at := range []int64{0, size - slice.Margin} {
		if _, err := f.ReadAt(edge, at); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(edge, zeros) {
			t.Errorf("the edge at %d was written", at)
		}
	}
}

func TestDeviceWithDataIsRefusedUnlessConfirmed(t *testing.T) {
	dev := provisiontest.Loop(t, 16<<20)
	asked := 0
	full := func(context.Context, string) ([]string, error) {
		asked++
		return []string{"it is mounted", "it bears the signature of ext4"}, nil
	}
	_, err := (&slice.Driver{Device: dev, Check: full}).Create(t.Context(), nil, request("s", 4096))
	if errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), "it is mounted; it bears") {
		t.Errorf("a device with data: %v", err)
	}
	broken := func(context.Context, string) ([]string, error) { return nil, errors.New("cannot look") }
	if _, err := (&slice.Driver{Device: dev, Check: broken}).Create(t.Context(), nil, request("s", 4096)); err == nil {
		t.Error("a device that could not be looked at was taken")
	}
	mounted := func(string) ([]string, error) { return []string{"it is mounted"}, nil }
	_, err = (&slice.Driver{Device: dev, Check: full, InUse: mounted, Confirmed: true}).Create(t.Context(), nil, request("s", 4096))
	if errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), "it is mounted") {
		t.Errorf("a confirmed device that came into use: %v", err)
	}
	confirmed := &slice.Driver{Device: dev, Check: full, InUse: unused, Confirmed: true}
	defer confirmed.Close()
	if _, err := confirmed.Create(t.Context(), nil, request("s", 4096)); err != nil {
		t.Errorf("a confirmed device: %v", err)
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

// From the first slice to Close nobody else can claim the device, as a mount does.
func TestDeviceIsHeld(t *testing.T) {
	dev := provisiontest.Loop(t, 16<<20)
	one, other := &slice.Driver{Device: dev, Check: empty}, &slice.Driver{Device: dev, Check: empty}
	defer one.Close()
	defer other.Close()
	for _, name := range []string{"a", "b"} {
		if _, err := one.Create(t.Context(), nil, request(name, 4096)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := other.Create(t.Context(), nil, request("c", 4096))
	if errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), "took it just now") {
		t.Errorf("a device that is held: %v", err)
	}
	for range 2 {
		if err := one.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := other.Create(t.Context(), nil, request("c", 4096)); err != nil {
		t.Errorf("a device that was given free: %v", err)
	}
}

func TestAFileIsNoDevice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 8<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dev := range []string{path, "/dev/null", filepath.Join(t.TempDir(), "none")} {
		if _, err := (&slice.Driver{Device: dev, Check: empty}).Create(t.Context(), nil, request("s", 4096)); err == nil {
			t.Errorf("took %s", dev)
		}
	}
}

func TestCheckSizes(t *testing.T) {
	dev := provisiontest.Loop(t, 16<<20)
	for _, tt := range []struct {
		sizes []int64
		fits  bool
	}{
		{nil, true},
		{[]int64{14 << 20}, true},
		{[]int64{14<<20 + 1}, false},
		{[]int64{4096, 4096, 12 << 20}, true}, // each takes whole MiB
		{[]int64{4096, 4096, 4096, 12 << 20}, false},
	} {
		err := slice.CheckSizes(dev, tt.sizes)
		if (err == nil) != tt.fits || err != nil && errkind.CodeOf(err) != errkind.Usage {
			t.Errorf("%v: %v", tt.sizes, err)
		}
	}
	if err := slice.CheckSize(dev, 3, 4<<20); err != nil {
		t.Error(err)
	}
	if err := slice.CheckSize(dev, 4, 4<<20); errkind.CodeOf(err) != errkind.Usage {
		t.Errorf("four of 4 MiB: %v", err)
	}
}

func TestExchange(t *testing.T) {
	dev := provisiontest.Loop(t, 16<<20)
	d := &slice.Driver{Device: dev, Check: empty}
	defer d.Close()
	if at, err := d.Allot(t.Context(), "s", 4096); err != nil || at != slice.Margin {
		t.Fatalf("%d, %v", at, err)
	}
	exclusively := func() (*os.File, error) { return os.OpenFile(dev, os.O_RDONLY|unix.O_EXCL, 0) }
	if _, err := exclusively(); !errors.Is(err, unix.EBUSY) {
		t.Fatalf("a device that is held: %v", err)
	}
	if err := d.Exchange(exclusively); err != nil {
		t.Errorf("the device was not free for the new claim: %v", err)
	}
	if _, err := exclusively(); !errors.Is(err, unix.EBUSY) {
		t.Errorf("the new claim is not held: %v", err)
	}
	err := d.Exchange(func() (*os.File, error) { return nil, unix.EBUSY })
	if errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), "took it just now") {
		t.Errorf("somebody was quicker: %v", err)
	}
}
