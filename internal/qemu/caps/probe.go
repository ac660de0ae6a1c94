package caps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/qemu/qmp"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/sys"
)

// devices are the types whose properties decide whether a stack can be offered: every disk and controller that
// package cmdline uses.
var devices = []string{
	"virtio-blk-pci", "virtio-scsi-pci", "nvme", "ich9-ahci", "lsi53c895a", "megasas", "pvscsi", "scsi-hd", "ide-hd",
	"vhost-user-blk-pci", "vhost-user-scsi-pci",
}

// Probe starts the binary once, without a machine, asks it what it can do, and ends it. A binary that is missing
// or is no QEMU is a fault of the request.
func Probe(ctx context.Context, binary string) (Caps, error) {
	path, err := find(binary)
	if err != nil {
		return Caps{}, err
	}
	return probe(ctx, path, os.TempDir())
}

// probe is Probe of a resolved path; aio is tried on a file in the folder scratch.
func probe(ctx context.Context, path, scratch string) (Caps, error) {
	c := Caps{Binary: path}
	err := withQEMU(ctx, path, func(m *qmp.Client) error {
		return errors.Join(c.askVersion(ctx, m), c.askTypes(ctx, m), c.askSchema(ctx, m), c.tryAIO(ctx, m, scratch))
	})
	if err != nil {
		return Caps{}, fmt.Errorf("asking %s what it can do: %w", path, err)
	}
	c.Qboot = qboot(ctx, path)
	return c, nil
}

// qboot looks for the minimal firmware in the folders where QEMU looks for its own. SeaBIOS starts every disk before it
// starts the kernel, which takes more than a second with eleven of them under emulation; qboot starts none.
func qboot(ctx context.Context, path string) string {
	out, err := sys.Exec{}.Run(ctx, sys.Command{Argv: []string{path, "-L", "help"}})
	if err != nil {
		return ""
	}
	for _, folder := range strings.Fields(string(out)) {
		file := filepath.Join(folder, "qboot.rom")
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	return ""
}

func (c *Caps) askVersion(ctx context.Context, m *qmp.Client) error {
	var target struct {
		Arch string `json:"arch"`
	}
	c.Version = m.Greeting()
	err := m.Call(ctx, "query-target", nil, &target)
	c.Arch = target.Arch
	return err
}

func (c *Caps) askTypes(ctx context.Context, m *qmp.Client) error {
	accelerators, err := m.Types(ctx, "accel")
	if err != nil {
		return err
	}
	for _, a := range accelerators {
		if name, ok := strings.CutSuffix(a, "-accel"); ok && name != "qtest" {
			c.Accelerators = append(c.Accelerators, name)
		}
	}
	slices.Sort(c.Accelerators)
	if c.Devices, err = m.Types(ctx, "device"); err != nil {
		return err
	}
	slices.Sort(c.Devices)
	if err := c.askMachines(ctx, m); err != nil {
		return err
	}
	c.Properties = map[string][]string{}
	for _, device := range devices {
		if !c.HasDevice(device) {
			continue
		}
		properties, err := m.DeviceProperties(ctx, device)
		if err != nil {
			return err
		}
		for _, p := range properties {
			c.Properties[device] = append(c.Properties[device], p.Name)
		}
		slices.Sort(c.Properties[device])
	}
	return nil
}

func (c *Caps) askMachines(ctx context.Context, m *qmp.Client) error {
	var machines []struct {
		Name      string `json:"name"`
		Alias     string `json:"alias"`
		IsDefault bool   `json:"is-default"`
	}
	if err := m.Call(ctx, "query-machines", nil, &machines); err != nil {
		return err
	}
	for _, k := range machines {
		c.Machines = append(c.Machines, k.Name)
		if k.Alias != "" {
			c.Machines = append(c.Machines, k.Alias)
		}
		if k.IsDefault {
			c.DefaultMachine = k.Name
		}
	}
	slices.Sort(c.Machines)
	return nil
}

func (c *Caps) askSchema(ctx context.Context, m *qmp.Client) error {
	data, err := m.Schema(ctx)
	if err != nil {
		return err
	}
	s, err := parseSchema(data)
	c.Drivers = s.argument("blockdev-add", "", "driver")
	c.AIO = s.argument("blockdev-add", "file", "aio")
	if err == nil && (len(c.Drivers) == 0 || len(c.AIO) == 0) {
		err = errors.New("QMP schema: blockdev-add does not say which drivers or aio values there are")
	}
	return err
}

// TempPrefix begins the names of the folders for tryAIO's file.
const TempPrefix = "iotax-aio-"

// tryAIO opens a file with each aio value. The schema is not enough: native is in it even where QEMU was built
// without libaio, and the kernel or a container's seccomp filter may forbid io_uring.
func (c *Caps) tryAIO(ctx context.Context, m *qmp.Client, scratch string) error {
	t, err := revert.NewTemp(scratch, TempPrefix)
	if err != nil {
		return err
	}
	defer t.Close() //nolint:errcheck // a folder that cannot be removed is left for Sweep
	f, err := os.Create(filepath.Join(t.Dir, "file"))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(1 << 20); err != nil {
		return err
	}
	for _, aio := range c.AIO {
		err := tryBlockdev(ctx, m, f.Name(), aio)
		var refused *qmp.Error
		switch {
		case err == nil || errors.As(err, &refused) && strings.Contains(refused.Desc, "O_DIRECT"):
			// works, or cannot be tried: this file system is one of those without O_DIRECT
		case refused != nil:
			if c.Refused == nil {
				c.Refused = map[string]string{}
			}
			c.Refused[aio] = refused.Desc
		default:
			return err
		}
	}
	return nil
}

func tryBlockdev(ctx context.Context, m *qmp.Client, path, aio string) error {
	node := map[string]any{
		"driver": "file", "node-name": "probe", "filename": path, "aio": aio,
		"cache": map[string]bool{"direct": aio == "native"}, // native refuses anything else
	}
	if err := m.Call(ctx, "blockdev-add", node, nil); err != nil {
		return err
	}
	return m.Call(ctx, "blockdev-del", json.RawMessage(`{"node-name": "probe"}`), nil)
}
