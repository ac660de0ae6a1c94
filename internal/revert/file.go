package revert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// suffix ends the name of every journal.
const suffix = ".jsonl"

// bootIDFile names this start of the machine.
const bootIDFile = "/proc/sys/kernel/random/boot_id"

// line is one line of a journal; exactly one field is set.
type line struct {
	Origin *origin `json:"origin,omitempty"` // the first line
	Entry  *Entry  `json:"entry,omitempty"`
	Forget int     `json:"forget,omitempty"` // ID of an entry that is undone
}

// origin says who wrote a journal.
type origin struct {
	Run  string `json:"run"`
	Boot string `json:"boot"` // the machine's boot_id: processes, mounts and loop devices end with it
	PID  int    `json:"pid"`  // for a person only: the lock tells whether the owner lives
}

func here(run string) origin { return origin{Run: run, Boot: bootID(), PID: os.Getpid()} }

func bootID() string {
	text, err := os.ReadFile(bootIDFile)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// rebooted reports whether the machine was started anew since. Unknown counts as no.
func (o origin) rebooted() bool {
	now := bootID()
	return o.Boot != "" && now != "" && o.Boot != now
}

// content is what a journal holds.
type content struct {
	origin  origin
	entries []Entry // still to be undone, oldest first
	last    int     // highest ID
	good    int64   // bytes of whole lines, from the start
}

// parse reads a journal. Its last line may be torn by a crash or be full of zeros after a power cut: its act was
// never made, and it is dropped. Any other line that cannot be read is an error, and the entries around it are
// returned with it.
func parse(data []byte) (content, error) {
	var c content
	var faults []error
	for number := 1; len(data) > 0; number++ {
		text, rest, whole := bytes.Cut(data, []byte("\n"))
		var l line
		err := json.Unmarshal(text, &l)
		switch {
		case err != nil && len(bytes.Trim(rest, "\x00")) == 0:
			return c, errors.Join(faults...)
		case err != nil:
			faults = append(faults, fmt.Errorf("line %d: %w", number, err))
		case !whole:
			return c, errors.Join(faults...)
		default:
			c.take(l)
		}
		c.good += int64(len(text)) + 1
		data = rest
	}
	return c, errors.Join(faults...)
}

func (c *content) take(l line) {
	switch {
	case l.Origin != nil:
		c.origin = *l.Origin
	case l.Entry != nil:
		c.entries = append(c.entries, *l.Entry)
		c.last = max(c.last, l.Entry.ID)
	case l.Forget != 0:
		c.entries = slices.DeleteFunc(c.entries, func(e Entry) bool { return e.ID == l.Forget })
	}
}

// stillAt reports whether an open file is the one that has this name.
func stillAt(f *os.File, path string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(opened, named)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
