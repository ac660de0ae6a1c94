package hostenv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/iotax/iotax/internal/sys"
)

// blkidPlaces are where blkid is looked for: /sbin is not on every user's path.
var blkidPlaces = []string{"blkid", "/usr/sbin/blkid", "/sbin/blkid"}

// signatures asks blkid what is on the device. Where blkid finds nothing, or there is none that can tell (BusyBox has
// one that cannot probe), a device on which anything but zeros is found counts as one with data: encryption without a
// header and databases on bare devices leave no signature.
func signatures(ctx context.Context, run sys.Runner, device string) ([]string, error) {
	for _, name := range blkidPlaces {
		if _, err := run.LookPath(name); err != nil {
			continue
		}
		out, err := run.Run(ctx, sys.Command{Argv: []string{name, "-p", "-o", "export", device}})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if found, ok := blkidSays(string(out), exitCode(err)); ok && len(found) > 0 {
			return found, nil
		} else if ok {
			break
		}
	}
	return notEmpty(ctx, device)
}

func exitCode(err error) int {
	if err == nil {
		return 0
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}

// blkidSays reads `blkid -p -o export`. ok is false when blkid could not probe. Its exit codes: 0 = something was
// found, 2 = nothing, 8 = signatures that contradict each other (blkid(8)). On a partition it also prints the entry
// in the table of the disk, which says nothing of what the partition holds.
func blkidSays(out string, code int) (reasons []string, ok bool) {
	switch code {
	case 2:
		return nil, true
	case 8:
		return []string{"it bears several signatures that contradict each other"}, true
	case 0:
	default:
		return nil, false
	}
	fields := map[string]string{}
	for line := range strings.Lines(out) {
		if key, value, found := strings.Cut(strings.TrimSpace(line), "="); found {
			fields[key] = value
		}
	}
	if table := fields["PTTYPE"]; table != "" {
		reasons = append(reasons, "it bears a partition table: "+table)
	}
	if kind := fields["TYPE"]; kind != "" {
		reason := "it bears the signature of " + kind
		if label := fields["LABEL"]; label != "" {
			reason += " labelled " + label
		}
		reasons = append(reasons, reason)
	}
	return reasons, true
}

const (
	edge    = 1 << 20 // bytes read at either end of a device: all signatures in use lie there
	samples = 256     // parts read in between, spread evenly
	sample  = 64 << 10
)

// notEmpty looks for anything but zeros at the ends of a device and in samples between them.
func notEmpty(ctx context.Context, device string) ([]string, error) {
	f, err := os.Open(device)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	buffer := make([]byte, min(edge, size))
	var reasons []string
	for _, place := range []struct {
		name string
		at   int64
	}{{"first", 0}, {"last", size - int64(len(buffer))}} {
		if _, err := f.ReadAt(buffer, place.at); err != nil {
			return nil, err
		}
		if !zero(buffer) {
			reasons = append(reasons, fmt.Sprintf("its %s MiB is not all zero, and no program here says what it is", place.name))
		}
	}
	if len(reasons) > 0 || size <= 2*edge {
		return reasons, nil
	}
	step := max((size-2*edge)/samples, sample)
	for at := int64(edge); at < size-edge; at += step {
		part := buffer[:min(sample, size-edge-at)]
		if _, err := f.ReadAt(part, at); err != nil {
			return nil, err
		}
		if !zero(part) {
			return []string{fmt.Sprintf("it is not all zero from byte %d on, and no program here says what it is", at)}, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return nil, nil
}

func zero(data []byte) bool { return len(bytes.Trim(data, "\x00")) == 0 }
