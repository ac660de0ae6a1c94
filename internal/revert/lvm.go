package revert

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/lvm2"
	"github.com/iotax/iotax/internal/sys"
)

// lvmPatience bounds the undoing of one act of LVM. LVM itself waits some seconds for a volume that is open.
const lvmPatience = 90 * time.Second

// LogicalVolume undoes the making of a logical volume of LVM: the one of this name is removed if it carries the run's
// tag, ScratchName. volume must begin with the tag. devices are the only physical volumes that are looked at, in
// /dev; none means those of the host.
func LogicalVolume(group, volume string, devices []string) Act {
	return Act{"lv", map[string]string{"group": group, "volume": volume, "devices": strings.Join(devices, " ")}}
}

// VolumeGroup undoes the making of a volume group of LVM with all that is in it, as LogicalVolume does.
func VolumeGroup(group string, devices []string) Act {
	return Act{"vg", map[string]string{"group": group, "devices": strings.Join(devices, " ")}}
}

// lvmName is what LVM takes as a name (lvm(8)).
var lvmName = regexp.MustCompile(`^[A-Za-z0-9_.+][A-Za-z0-9_.+-]*$`)

func validLV(run string, args map[string]string) error {
	if !lvmName.MatchString(args["group"]) {
		return fmt.Errorf("revert: %q is no name of a volume group", args["group"])
	}
	return ownLVM(run, args["volume"])
}

func validVG(run string, args map[string]string) error { return ownLVM(run, args["group"]) }

// ownLVM refuses a name that no volume or group of the run has.
func ownLVM(run, name string) error {
	if run == "" || !lvmName.MatchString(name) || !strings.HasPrefix(name, ScratchName(run)+"-") {
		return fmt.Errorf("revert: refused to remove %q: not of run %s", name, run)
	}
	return nil
}

func undoLV(ctx context.Context, run string, args map[string]string) error {
	return lvmRemove(ctx, run, args, "lv_tags",
		func(ctx context.Context, t lvm2.Tool) ([]lvm2.Row, error) {
			return t.Volumes(ctx, sys.Exec{}, lvm2.Select(args["group"], args["volume"]), "lv_tags")
		},
		"lvremove", "--yes", args["group"]+"/"+args["volume"])
}

func undoVG(ctx context.Context, run string, args map[string]string) error {
	return lvmRemove(ctx, run, args, "vg_tags",
		func(ctx context.Context, t lvm2.Tool) ([]lvm2.Row, error) {
			return t.Groups(ctx, sys.Exec{}, lvm2.SelectGroup(args["group"]), "vg_tags")
		},
		"vgremove", "--yes", "--force", "--force", args["group"])
}

// lvmRemove runs a command of LVM if look finds what it is to remove, with the run's tag. A process that was just
// ended may hold the volume for a moment.
func lvmRemove(ctx context.Context, run string, args map[string]string, tags string, look func(context.Context, lvm2.Tool) ([]lvm2.Row, error), command ...string) error {
	working, cancel := context.WithTimeout(context.WithoutCancel(ctx), lvmPatience)
	defer cancel()
	tool := lvm2.Tool{Devices: strings.Fields(args["devices"]), Udev: lvm2.UdevRuns()}
	deadline := time.Now().Add(deviceWait)
	for {
		rows, err := look(working, tool)
		if err != nil || len(rows) == 0 || !rows[0].Tagged(tags, ScratchName(run)) {
			return err
		}
		if _, err = tool.Run(working, sys.Exec{}, command[0], command[1:]...); err == nil {
			return nil
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(poll)
	}
}
