package qcow2

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/sys"
)

// SnapshotName is the name of the snapshot inside the images that have one.
const SnapshotName = "iotax"

// snapshot takes a snapshot inside an image that nothing has open. From then on the first write to each cluster copies
// it.
func (d Driver) snapshot(ctx context.Context, v provision.Volume) error {
	_, err := d.Run.Run(ctx, sys.Command{Argv: []string{"qemu-img", "snapshot", "-q", "-c", SnapshotName, v.Path}})
	return fullDisk(err, v.Path)
}

// writeAll writes to every cluster through QEMU's block layer, so that each is allocated, and none is shared with a
// snapshot any more.
func (d Driver) writeAll(ctx context.Context, path string, size int64) error {
	const part = 1 << 30 // bytes of one write: qemu-io takes no 2 GiB
	argv := []string{"qemu-io", "-f", "qcow2"}
	for at := int64(0); at < size; at += part {
		argv = append(argv, "-c", fmt.Sprintf("write -q -P 1 %d %d", at, min(part, size-at)))
	}
	_, err := d.Run.Run(ctx, sys.Command{Argv: append(argv, path)})
	return fullDisk(err, path)
}

// properties are the settings that an image has, in the words of qemu-img.
func (d Driver) properties(ctx context.Context, path string) (map[string]string, error) {
	// -U: a guest may have the image open
	out, err := d.Run.Run(ctx, sys.Command{Argv: []string{"qemu-img", "info", "-U", "-f", "qcow2", "--output=json", path}})
	if err != nil {
		return nil, err
	}
	p, err := parseInfo(out)
	if err != nil {
		return nil, fmt.Errorf("qemu-img info of %s: %w", path, err)
	}
	return p, nil
}

func parseInfo(out []byte) (map[string]string, error) {
	var info struct {
		ClusterSize int64             `json:"cluster-size"`
		Backing     string            `json:"backing-filename"`
		Snapshots   []json.RawMessage `json:"snapshots"`
		Specific    struct {
			Data struct {
				LazyRefcounts bool `json:"lazy-refcounts"`
				ExtendedL2    bool `json:"extended-l2"`
			} `json:"data"`
		} `json:"format-specific"`
	}
	if err := json.Unmarshal(out, &info); err != nil {
		return nil, err
	}
	p := map[string]string{
		"cluster_size":   strconv.FormatInt(info.ClusterSize, 10),
		"lazy_refcounts": strconv.FormatBool(info.Specific.Data.LazyRefcounts),
		"extended_l2":    strconv.FormatBool(info.Specific.Data.ExtendedL2),
		"snapshots":      strconv.Itoa(len(info.Snapshots)),
	}
	if info.Backing != "" {
		p["backing_file"] = info.Backing
	}
	return p, nil
}
