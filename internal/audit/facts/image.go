package facts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/iotax/iotax/internal/audit"
)

// image asks qemu-img, which reads images that are in use as well. The format is that of the configuration: it is not guessed.
func (s Source) image(ctx context.Context, path, format string) *audit.Image {
	text := s.say(ctx, "qemu-img", "info", "--output=json", "--backing-chain", "-U", "-f", format, path)
	if text == "" {
		return nil
	}
	image, err := parseInfo([]byte(text))
	if err != nil {
		return nil
	}
	return &image
}

// info is one image of `qemu-img info --output=json`.
type info struct {
	Filename    string `json:"filename"`
	Format      string `json:"format"`
	VirtualSize int64  `json:"virtual-size"`
	ActualSize  int64  `json:"actual-size"`
	ClusterSize int64  `json:"cluster-size"`
	Snapshots   []struct {
		Name string `json:"name"`
	} `json:"snapshots"`
	BackingFormat string `json:"backing-filename-format"`
	Specific      struct {
		Data struct {
			Compat     string `json:"compat"`
			ExtendedL2 bool   `json:"extended-l2"`
			Corrupt    bool   `json:"corrupt"`
		} `json:"data"`
	} `json:"format-specific"`
}

// parseInfo reads the images of a chain, the one that is written first.
func parseInfo(text []byte) (audit.Image, error) {
	var chain []info
	if err := json.Unmarshal(text, &chain); err != nil {
		return audit.Image{}, fmt.Errorf("qemu-img info: %w", err)
	}
	if len(chain) == 0 {
		return audit.Image{}, errors.New("qemu-img info: no image")
	}
	top := chain[0]
	if top.VirtualSize < 0 || top.ActualSize < 0 || top.ClusterSize < 0 {
		return audit.Image{}, fmt.Errorf("qemu-img info: %s: a size below zero", top.Filename)
	}
	i := audit.Image{
		Format: top.Format, VirtualSize: top.VirtualSize, ActualSize: top.ActualSize, ClusterSize: top.ClusterSize,
		ExtendedL2: top.Specific.Data.ExtendedL2, Compat: top.Specific.Data.Compat, Corrupt: top.Specific.Data.Corrupt,
	}
	for _, snapshot := range top.Snapshots {
		i.Snapshots = append(i.Snapshots, snapshot.Name)
	}
	for n, one := range chain[1:] {
		i.Backing = append(i.Backing, audit.Backing{File: one.Filename, Format: one.Format, Named: chain[n].BackingFormat != ""})
	}
	return i, nil
}
