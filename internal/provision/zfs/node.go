package zfs

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/hostenv"
)

// nodes finds the block devices of zvols. The kernel makes them some time after `zfs create` has returned, and udev
// the links below /dev/zvol later still, or never where there is no udev.
type nodes struct {
	root     string // "/"; a test has its own
	name     func(device string) (dataset string, err error)
	patience time.Duration
	poll     time.Duration
}

var here = nodes{root: "/", name: hostenv.ZvolName, patience: 30 * time.Second, poll: 20 * time.Millisecond}

// find waits for the device of a zvol and names it: "/dev/zd0".
func (n nodes) find(ctx context.Context, dataset string) (string, error) {
	deadline := time.Now().Add(n.patience)
	for {
		if device := n.look(dataset); device != "" {
			return device, nil
		}
		if time.Now().After(deadline) {
			return "", n.late(dataset)
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(n.poll):
		}
	}
}

// look asks the device that the link leads to, else every one, what its zvol is called: a link may be that of an
// earlier zvol of the name.
func (n nodes) look(dataset string) string {
	var devices []string
	if device, err := filepath.EvalSymlinks(filepath.Join(n.root, "dev/zvol", dataset)); err == nil {
		devices = append(devices, device)
	}
	all, _ := filepath.Glob(filepath.Join(n.root, "sys/block/zd*"))
	for _, dir := range all {
		devices = append(devices, filepath.Join(n.root, "dev", filepath.Base(dir)))
	}
	for _, device := range devices {
		if name, err := n.name(device); err == nil && name == dataset {
			return device
		}
	}
	return ""
}

// late says why there may be no device.
func (n nodes) late(dataset string) error {
	const inhibit = "sys/module/zfs/parameters/zvol_inhibit_dev"
	err := errkind.Userf("the block device of the zvol %s did not appear within %v", dataset, n.patience)
	if text, e := os.ReadFile(filepath.Join(n.root, inhibit)); e == nil && strings.TrimSpace(string(text)) == "1" {
		return errkind.WithHint(err, "the module zfs makes none: echo 0 > /%s", inhibit)
	}
	return errkind.WithHint(err, "look with dmesg what the kernel says of it")
}
