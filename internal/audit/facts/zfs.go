package facts

import (
	"context"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/audit"
	"github.com/iotax/iotax/internal/hostenv"
)

func (s Source) zvolName(device string) (string, error) {
	if s.zvol != nil {
		return s.zvol(device)
	}
	return hostenv.ZvolName(device)
}

// dataset asks ZFS for the properties of a dataset, nil where it does not answer.
func (s Source) dataset(ctx context.Context, name string) *audit.Dataset {
	text := s.say(ctx, "zfs", "get", "-H", "-p", "-o", "property,value", "volblocksize,recordsize,sync,dedup", name)
	if text == "" {
		return nil
	}
	d := &audit.Dataset{Name: name}
	for line := range strings.Lines(text) {
		property, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		switch property {
		case "volblocksize":
			d.Volblocksize = size(value)
		case "recordsize":
			d.Recordsize = size(value)
		case "sync":
			d.Sync = value
		case "dedup":
			d.Dedup = value
		}
	}
	return d
}

// size reads bytes; a property that a kind of dataset does not have is "-".
func size(value string) int64 {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
