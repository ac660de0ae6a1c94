// Package device makes volumes that are whole block devices, each one to itself.
package device

import (
	"context"

	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/provision/ground"
	"github.com/iotax/iotax/internal/provision/slice"
	"github.com/iotax/iotax/internal/revert"
)

// Driver hands out devices of its ground as they are.
type Driver struct {
	Ground provision.Ground
}

// Claims implements ground.Claimer.
func (Driver) Claims(r provision.Request) ([]int64, error) {
	return []int64{r.Size}, provision.CheckSize(r.Size)
}

// Need implements provision.Driver.
func (d Driver) Need(r provision.Request) (int64, error) {
	return ground.Need(d.Ground, r.Size), provision.CheckSize(r.Size)
}

// Create implements provision.Driver.
func (d Driver) Create(ctx context.Context, j *revert.Journal, r provision.Request) (provision.Volume, error) {
	if err := provision.CheckSize(r.Size); err != nil {
		return provision.Volume{}, err
	}
	path, err := d.Ground.Claim(ctx, j, r.Stack.Name, r.Size)
	if err != nil {
		return provision.Volume{}, err
	}
	return provision.Volume{Stack: r.Stack.Name, Path: path, Format: "raw", Block: true, Size: r.Size, Serial: r.Serial}, nil
}

func whole(v provision.Volume) []provision.Extent { return []provision.Extent{{At: 0, Length: v.Size}} }

// Fill implements provision.Driver.
func (Driver) Fill(ctx context.Context, v provision.Volume, c provision.Content, progress func(int64)) error {
	return provision.Write(ctx, v.Path, whole(v), c, progress)
}

// Verify implements provision.Driver. A device does not tell which of its blocks were written: that none reads as
// zeros is looked up in samples.
func (Driver) Verify(_ context.Context, v provision.Volume) error {
	return provision.NotZero(v.Path, whole(v))
}

// Unwritten implements provision.Mapper, by the same samples.
func (Driver) Unwritten(_ context.Context, v provision.Volume) (float64, error) {
	return provision.ZeroShare(v.Path, whole(v))
}

// Resolve implements provision.Driver.
func (Driver) Resolve(_ context.Context, v provision.Volume) ([]string, error) {
	return []string{v.Path}, nil
}

// Report implements provision.Driver. It says what stands in for a disk of its own.
func (d Driver) Report(_ context.Context, v provision.Volume) (provision.Report, error) {
	size, err := slice.Size(v.Path)
	return provision.Report{RealSize: size, Properties: map[string]string{"device": ground.Describe(d.Ground)}}, err
}

// Destroy implements provision.Driver. The ground takes the device back when the run ends.
func (Driver) Destroy(context.Context, provision.Volume) error { return nil }
