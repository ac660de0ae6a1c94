package meter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	sector = 512                   // bytes; the unit of these counters whatever the disk's own block is
	tick   = 10 * time.Millisecond // USER_HZ is 100 on every architecture that Go runs on
)

// Fields of /sys/block/X/stat by position (Documentation/block/stat.rst of Linux).
const (
	readIOs, readSectors   = 0, 2
	writeIOs, writeSectors = 4, 6
	inFlight, ioTicks      = 8, 9
	flushIOs               = 15 // since 5.5; discards, at 11 to 14, came with 4.18
	fieldsAtLeast          = 11
)

func parseDisk(text []byte) (Disk, error) {
	words := strings.Fields(string(text))
	if len(words) < fieldsAtLeast {
		return Disk{}, fmt.Errorf("%d fields, expected at least %d", len(words), fieldsAtLeast)
	}
	fields := make([]int64, len(words))
	for i, word := range words {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return Disk{}, fmt.Errorf("field %d: %w", i+1, err)
		}
		fields[i] = n
	}
	d := Disk{
		Reads: fields[readIOs], ReadBytes: fields[readSectors] * sector,
		Writes: fields[writeIOs], WriteBytes: fields[writeSectors] * sector,
		InFlight: fields[inFlight], Busy: time.Duration(fields[ioTicks]) * time.Millisecond,
	}
	if len(fields) > flushIOs {
		d.Flushes = &fields[flushIOs]
	}
	return d, nil
}

// readHead reads the lines of /proc/stat that begin with "cpu". What follows, a number for each interrupt line, can
// be a hundred times as long on a large host.
func readHead(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text := make([]byte, 0, 16<<10)
	for {
		n, err := f.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if end := bytes.Index(text, []byte("\nintr")); end >= 0 {
			return text[:end+1], nil
		}
		if errors.Is(err, io.EOF) {
			return text, nil
		} else if err != nil {
			return nil, err
		}
		if len(text) == cap(text) {
			text = append(text, make([]byte, len(text))...)[:len(text)]
		}
	}
}

func parseCPUs(text []byte) (all CPU, each map[int]CPU, err error) {
	each = map[int]CPU{}
	seen := false
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) == 0 || !strings.HasPrefix(words[0], "cpu") {
			continue
		}
		c, err := parseCPU(words[1:])
		if err != nil {
			return CPU{}, nil, fmt.Errorf("line %q: %w", strings.TrimSpace(line), err)
		}
		if words[0] == "cpu" {
			all, seen = c, true
			continue
		}
		id, err := strconv.Atoi(words[0][len("cpu"):])
		if err != nil || id < 0 {
			return CPU{}, nil, fmt.Errorf("line %q: no processor of that name", strings.TrimSpace(line))
		}
		each[id] = c
	}
	if !seen {
		return CPU{}, nil, errors.New("no line begins with \"cpu \"")
	}
	return all, each, nil
}

// parseCPU reads user, nice, system, idle, iowait, irq, softirq and steal. What follows, guest time, is contained in
// user and nice.
func parseCPU(words []string) (CPU, error) {
	const idle, iowait, steal = 3, 4, 7
	if len(words) <= steal {
		return CPU{}, fmt.Errorf("%d fields, expected at least %d", len(words), steal+1)
	}
	var c CPU
	for i, word := range words[:steal+1] {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return CPU{}, fmt.Errorf("field %d: %w", i+1, err)
		}
		switch t := time.Duration(n) * tick; i {
		case idle, iowait:
			c.Idle += t
		case steal:
			c.Steal = t
		default:
			c.Busy += t
		}
	}
	return c, nil
}
