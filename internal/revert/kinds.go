package revert

import (
	"context"
	"fmt"
)

// kind is how acts of one kind are checked before they are journalled, and undone. undo is idempotent: it is also
// called for an act that was never made, and again after it was cut short.
type kind struct {
	args     []string // names that must not be empty
	valid    func(run string, args map[string]string) error
	undo     func(ctx context.Context, run string, args map[string]string) error
	volatile bool // ends with the machine: there is nothing left to undo after a reboot
}

// kinds are all the acts that a journal can hold.
var kinds = map[string]kind{
	"remove":  {args: []string{"path"}, valid: validRemove, undo: undoRemove},
	"rmdir":   {args: []string{"path"}, valid: validRmdir, undo: undoRmdir},
	"process": {args: []string{"pid", "start"}, undo: undoProcess, volatile: true},
	"marked":  {args: []string{"mark"}, undo: undoMarked, volatile: true},
	"loop":    {args: []string{"device", "file"}, undo: undoLoop, volatile: true},
	"sysfs":   {args: []string{"path", "old"}, valid: validSysfs, undo: undoSysfs, volatile: true},
	"spdk":    {args: []string{"socket", "method", "name"}, valid: validSPDK, undo: undoSPDK, volatile: true},
	"umount":  {args: []string{"target"}, undo: undoUmount, volatile: true},

	"partition": {args: []string{"device", "number", "start", "length"}, undo: undoPartition, volatile: true},
	"reread":    {args: []string{"device"}, undo: undoReread, volatile: true},
	"lv":        {args: []string{"group", "volume"}, valid: validLV, undo: undoLV},
	"vg":        {args: []string{"group"}, valid: validVG, undo: undoVG},

	"zpool":   {args: []string{"pool"}, valid: validZpool, undo: undoZpool},
	"dataset": {args: []string{"dataset"}, valid: validDataset, undo: undoDataset},

	"xl-domain": {args: []string{"name", "uuid"}, valid: validDomain, undo: undoDomain, volatile: true},
}

func (k kind) check(run string, args map[string]string) error {
	for _, name := range k.args {
		if args[name] == "" {
			return fmt.Errorf("revert: argument %q is missing in %v", name, args)
		}
	}
	if k.valid == nil {
		return nil
	}
	return k.valid(run, args)
}

// undo checks an entry as Add did, since a journal is a file that anyone may have changed, and undoes it.
func undo(ctx context.Context, o origin, e Entry) error {
	k, ok := kinds[e.Kind]
	if !ok {
		return fmt.Errorf("revert: no kind %q", e.Kind)
	}
	if err := k.check(o.Run, e.Args); err != nil {
		return err
	}
	if k.volatile && o.rebooted() {
		return nil
	}
	return k.undo(ctx, o.Run, e.Args)
}
