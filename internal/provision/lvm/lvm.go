// Package lvm makes logical volumes, thick and thin: in a volume group made for each of them, or in a group or thin
// pool that exists.
package lvm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/lvm2"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/provision/ground"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
)

// Driver makes the volumes of storage "lvm" and "lvm-thin". Whatever it makes is named iotax-<run>-<serial> and bears
// the tag iotax-<run>, and only what bears that is ever removed.
type Driver struct {
	Run    sys.Runner
	Ground provision.Ground // for groups of our own; stacks that name a pool need none

	made map[string]*volume // by path
}

// volume is a logical volume and all that was made for it.
type volume struct {
	lvm2.Tool
	tag      string
	group    string
	own      bool   // the group was made for this volume alone
	name     string // of the logical volume
	pool     string // thin pool it lies in, "" = thick
	ownPool  bool   // the pool was made for this volume alone
	snapshot string // name of its snapshot, "" = it has none
	copied   bool   // everything is written once after the snapshot was taken
	layout   layout
}

func thin(s spec.Stack) bool { return s.Storage == "lvm-thin" }

// Claims implements ground.Claimer.
func (*Driver) Claims(r provision.Request) ([]int64, error) {
	if err := provision.CheckSize(r.Size); err != nil {
		return nil, err
	}
	if r.Stack.Pool != "" {
		return nil, nil
	}
	return layoutOf(r.Stack, r.Size, extentOf(r.Stack)).claims(), nil
}

// Need implements provision.Driver.
func (d *Driver) Need(r provision.Request) (int64, error) {
	claims, err := d.Claims(r)
	return ground.Need(d.Ground, claims...), err
}

// serialForm is what of a serial number LVM takes into a name.
var serialForm = regexp.MustCompile(`^[A-Za-z0-9_.+-]+$`)

// Create implements provision.Driver. Devices of the ground stay claimed until the run ends, whatever happens.
func (d *Driver) Create(ctx context.Context, j *revert.Journal, r provision.Request) (made provision.Volume, err error) {
	if err := provision.CheckSize(r.Size); err != nil {
		return made, err
	}
	serial := strings.TrimPrefix(r.Serial, "iotax-")
	if !serialForm.MatchString(serial) {
		return made, errkind.Userf("serial %q cannot be a part of the name of a logical volume", r.Serial)
	}
	v := &volume{tag: revert.ScratchName(j.Run()), copied: r.Stack.Snapshot == "copied"}
	v.name = v.tag + "-" + serial
	if r.Stack.Snapshot != "" {
		v.snapshot = v.name + "-snap"
	}
	v.Tool.Udev = lvm2.UdevRuns()
	if r.Stack.Pool == "" {
		err = d.makeGroup(ctx, j, r, v)
	} else {
		err = d.findPlace(ctx, j, r, v)
	}
	if err != nil {
		return made, err
	}
	if err := d.makeVolume(ctx, r.Stack, v); err != nil {
		return made, errors.Join(err, d.remove(context.WithoutCancel(ctx), v))
	}
	made = provision.Volume{
		Stack: r.Stack.Name, Path: "/dev/" + v.group + "/" + v.name, Format: "raw", Block: true, Size: r.Size, Serial: r.Serial,
	}
	if d.made == nil {
		d.made = map[string]*volume{}
	}
	d.made[made.Path] = v
	return made, nil
}

// makeGroup makes a volume group of the volume's own, on devices that nobody else has.
func (d *Driver) makeGroup(ctx context.Context, j *revert.Journal, r provision.Request, v *volume) error {
	v.own, v.group = true, v.name
	v.layout = layoutOf(r.Stack, r.Size, extentOf(r.Stack))
	if thin(r.Stack) {
		v.pool, v.ownPool = v.name+"-pool", true
	}
	// Other physical volumes of the host are not looked at: nodes tell of a group that is active.
	if _, err := os.Lstat("/dev/" + v.group); err == nil {
		return taken("volume group", v.group)
	}
	for i, size := range v.layout.claims() {
		device, err := d.Ground.Claim(ctx, j, fmt.Sprintf("%s.%d", v.name, i), size)
		if err != nil {
			return err
		}
		v.Devices = append(v.Devices, device)
	}
	if _, err := j.Add(revert.VolumeGroup(v.group, v.Devices)); err != nil {
		return err
	}
	if err := d.run(ctx, v, groupArgs(v)); err != nil {
		return errors.Join(err, d.remove(context.WithoutCancel(ctx), v))
	}
	return nil
}

func taken(what, name string) error {
	return errkind.WithHint(errkind.Userf("there is a %s named %s already", what, name), "remove what an earlier run left with: iotax clean")
}

// makeVolume makes the pool, if need be, and the volume in its group.
func (d *Driver) makeVolume(ctx context.Context, s spec.Stack, v *volume) error {
	if v.ownPool {
		if err := d.run(ctx, v, poolArgs(v, s)); err != nil {
			return err
		}
	}
	return d.run(ctx, v, volumeArgs(v, s))
}

func (d *Driver) run(ctx context.Context, v *volume, argv []string) error {
	_, err := v.Run(ctx, d.Run, argv[0], argv[1:]...)
	return err
}

// of finds what a volume is.
func (d *Driver) of(v provision.Volume) (*volume, error) {
	if found := d.made[v.Path]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("%s was not made here", v.Path)
}

// Destroy implements provision.Driver.
func (d *Driver) Destroy(ctx context.Context, made provision.Volume) error {
	v, err := d.of(made)
	if err != nil {
		return err
	}
	return d.remove(ctx, v)
}

// remove removes what was made for a volume, as far as it is there.
func (d *Driver) remove(ctx context.Context, v *volume) error {
	if v.own {
		rows, err := v.Groups(ctx, d.Run, lvm2.SelectGroup(v.group), "vg_tags")
		if err != nil || len(rows) == 0 || !rows[0].Tagged("vg_tags", v.tag) {
			return err
		}
		return d.run(ctx, v, []string{"vgremove", "--yes", "--force", "--force", v.group})
	}
	there, err := d.look(ctx, v)
	if err != nil {
		return err
	}
	var failures []error
	for _, name := range v.parts() {
		if there[name].Tagged("lv_tags", v.tag) {
			failures = append(failures, d.run(ctx, v, removeArgs(v, name)))
		}
	}
	return errors.Join(failures...)
}

// parts names the logical volumes that were made for a volume, in the order in which they can be removed.
func (v *volume) parts() []string {
	parts := []string{v.name}
	if v.snapshot != "" {
		parts = []string{v.snapshot, v.name}
	}
	if v.ownPool {
		parts = append(parts, v.pool)
	}
	return parts
}
