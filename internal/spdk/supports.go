package spdk

import (
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/spec"
)

// bdev is how SPDK has a volume open.
type bdev struct{ create, delete string }

// bdevs are SPDK's by what QEMU calls aio: SPDK has the same two of the kernel's interfaces, but no thread pool.
var bdevs = map[string]bdev{
	"native":   {"bdev_aio_create", "bdev_aio_delete"},
	"io_uring": {"bdev_uring_create", "bdev_uring_delete"},
}

var nullBdev = bdev{"bdev_null_create", "bdev_null_delete"}

func bdevOf(s spec.Stack) bdev {
	if s.Ceiling() {
		return nullBdev
	}
	return bdevs[s.AIO]
}

// methods returns what a target must know to serve the stack.
func methods(s spec.Stack) []string {
	b := bdevOf(s)
	list := []string{b.create, b.delete, "vhost_delete_controller", "vhost_get_controllers", "bdev_get_bdevs"}
	if s.Bus == "vhost-user-scsi" {
		return append(list, "vhost_create_scsi_controller", "vhost_scsi_controller_add_target", "vhost_scsi_controller_remove_target")
	}
	return append(list, "vhost_create_blk_controller")
}

// Refuses returns why no SPDK serves a stack as it was asked for and what would change that, both empty when one can.
func Refuses(s spec.Stack) (reason, mend string) {
	null := s.Ceiling()
	switch {
	case s.Served() != "spdk" || !s.VhostUser():
		return "SPDK serves a guest over vhost-user-blk or vhost-user-scsi only", "choose one of these buses with daemon spdk"
	case s.Format != "raw" && !null:
		return "SPDK reads no " + s.Format + " images", "choose format raw"
	case s.Cache != "none" && !null:
		return "SPDK opens every volume with O_DIRECT, which is cache none", "choose cache none"
	case bdevs[s.AIO].create == "" && !null:
		return "SPDK has no aio=" + s.AIO, "choose aio native or io_uring"
	case s.IOThread:
		return "SPDK has no iothreads: its reactors poll", "leave iothread out"
	case s.Discard == "unmap":
		return "SPDK gives no choice of discard", "leave discard out"
	case s.DetectZeroes != "" && s.DetectZeroes != "off":
		return "SPDK does not detect zeros", "leave detect_zeroes out"
	}
	return "", ""
}

// Lacks returns, as one line, why this target cannot serve the stack: methods that its version or build does not have.
func (t *Target) Lacks(s spec.Stack) error {
	var missing []string
	for _, m := range methods(s) {
		if !slices.Contains(t.methods, m) {
			missing = append(missing, m)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return errkind.WithHint(errkind.Userf("%s has no %s", t.Version, strings.Join(missing, ", ")), "%s", build(missing))
}

// build says what a target that lacks methods was built without.
func build(missing []string) string {
	for _, m := range missing {
		if strings.HasPrefix(m, "bdev_uring_") {
			return "build SPDK 20.01 or newer with ./configure --with-uring, or choose aio native"
		}
	}
	return "build SPDK 20.01 or newer with its vhost target (./configure --with-vhost)"
}

// checkDisk refuses disks that SPDK would serve otherwise than was asked for.
func checkDisk(d cmdline.Disk) error {
	if reason, mend := Refuses(d.Stack); reason != "" {
		return errkind.WithHint(errkind.Userf("disk %s: %s", d.Serial, reason), "%s", mend)
	}
	if d.Offset != 0 || d.Size != 0 && !d.Stack.Ceiling() {
		return errkind.WithHint(errkind.Userf("disk %s: SPDK serves whole files and devices, no part of one", d.Serial), "give the stack a volume of its own")
	}
	return nil
}
