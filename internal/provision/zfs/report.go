package zfs

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/unit"
)

// written gives an error unless ZFS has written as many bytes to the volume's dataset as the guest sees. What it
// counts beside the data, a pointer for each block, is at most a few hundredths.
func (s *Storage) written(ctx context.Context, v provision.Volume) error {
	m, n, err := s.referenced(ctx, v)
	if err == nil && n < v.Size {
		err = fmt.Errorf("%s is not filled: of %s only %s are written", m.dataset, unit.ExactBytes(v.Size), unit.Bytes(n))
	}
	return err
}

// Unwritten implements provision.Mapper. Zeros that compression makes holes of count as unwritten.
func (s *Storage) Unwritten(ctx context.Context, v provision.Volume) (float64, error) {
	_, n, err := s.referenced(ctx, v)
	return max(1-float64(n)/float64(v.Size), 0), err
}

// referenced is how many bytes of a volume ZFS has written, before compression.
func (s *Storage) referenced(ctx context.Context, v provision.Volume) (m made, bytes int64, err error) {
	if m, err = s.of(v); err != nil {
		return m, 0, err
	}
	if err := s.sync(ctx, m); err != nil {
		return m, 0, err
	}
	bytes, err = s.number(ctx, m.dataset, "logicalreferenced")
	return m, max(bytes-m.blank, 0), err
}

// sync waits until all that was written is in the pool: until then ZFS does not count it.
func (s *Storage) sync(ctx context.Context, m made) error {
	_, err := s.run(ctx, "zpool", "sync", m.pool())
	return err
}

// report tells of a volume; block is the property that has its block size.
func (s *Storage) report(ctx context.Context, v provision.Volume, block string) (provision.Report, error) {
	m, err := s.of(v)
	if err != nil {
		return provision.Report{}, err
	}
	if err := s.sync(ctx, m); err != nil {
		return provision.Report{}, err
	}
	names := []string{block, "compression", "primarycache", "sync"}
	found, err := s.properties(ctx, m.dataset, append(names, "referenced", "compressratio")...)
	if err != nil {
		return provision.Report{}, err
	}
	r := provision.Report{Properties: map[string]string{}}
	for _, name := range names {
		r.Properties[name] = found[name]
	}
	shift, err := s.run(ctx, "zpool", "get", "-H", "-p", "-o", "value", "ashift", m.pool())
	if err != nil {
		return r, err
	}
	if shift != "0" { // else it was left to ZFS, which says nothing of what it chose for each device
		r.Properties["ashift"] = shift
	}
	if version, err := os.ReadFile("/sys/module/zfs/version"); err == nil {
		r.Properties["zfs"] = strings.TrimSpace(string(version))
	}
	// What is reserved beside it is not taken, and is in "used" nevertheless.
	if r.RealSize, err = strconv.ParseInt(found["referenced"], 10, 64); err != nil {
		return r, fmt.Errorf("%s: referenced: %w", m.dataset, err)
	}
	if found["compression"] == "off" {
		return r, nil
	}
	ratio, err := strconv.ParseFloat(strings.TrimSuffix(found["compressratio"], "x"), 64)
	if err != nil {
		return r, fmt.Errorf("%s: compressratio: %w", m.dataset, err)
	}
	r.CompressRatio = &ratio
	return r, nil
}

// properties asks for properties of a dataset, sizes in bytes.
func (s *Storage) properties(ctx context.Context, dataset string, names ...string) (map[string]string, error) {
	out, err := s.run(ctx, "zfs", "get", "-H", "-p", "-o", "property,value", strings.Join(names, ","), dataset)
	if err != nil {
		return nil, err
	}
	return parseProperties(out, names)
}

// parseProperties reads lines of a name, a tab and a value, and wants to find every name.
func parseProperties(text string, names []string) (map[string]string, error) {
	found := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\n"), "\t"); ok {
			found[name] = value
		}
	}
	var faults errkind.List
	for _, name := range names {
		if _, ok := found[name]; !ok {
			faults = append(faults, fmt.Errorf("zfs get does not tell %s", name))
		}
	}
	return found, faults.Err()
}

func (s *Storage) number(ctx context.Context, dataset, property string) (int64, error) {
	found, err := s.properties(ctx, dataset, property)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(found[property], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %s: %w", dataset, property, err)
	}
	return n, nil
}
