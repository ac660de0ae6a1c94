package analyse

import (
	"fmt"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// Limits for what a volume holds. It was filled, and proved to be, before the first window.
const (
	unwrittenWithheld = 0.01 // share of the volume that is not on the disk
	compressWithheld  = 1.25 // ratio of the storage over that of the experiment's data
	compressWarned    = 1.05
)

// changes reports whether what is written to a stack's volume changes its state, as was asked for.
func changes(s spec.Stack) bool { return s.Empty || s.BackingFile || s.Snapshot == "fresh" }

// unwritten is the largest share of the volume that was not on the disk before any counted window of the cell, or at the
// end of the run: a guest may have given it back meanwhile. 0 where nothing tells.
func (c *cell) unwritten(v *record.Volume) (share float64) {
	if v != nil && v.Unwritten != nil {
		share = *v.Unwritten
	}
	for _, w := range c.counted {
		if u := w.Evidence.Unwritten; u != nil {
			share = max(share, *u)
		}
	}
	return share
}

func (c *cell) unwrittenWords(share float64) string {
	words := fmt.Sprintf("%.0f %% of this volume was never written, or is zeros that are stored nowhere: ", 100*share)
	if share < 0.01 {
		words = fmt.Sprintf("%.2f %% of this volume was never written, or is zeros that are stored nowhere: ", 100*share)
	}
	switch {
	case !c.workload.Writes():
		return words + "such reads meet no disk"
	case !c.workload.Reads():
		return words + "such writes have to find a place first"
	}
	return words + "such reads meet no disk, and such writes have to find a place first"
}

// squeezed is by how much the storage compresses the data more than the experiment meant it to; below 1 it compresses less.
// Of incompressible data it keeps every byte.
func (c *cell) squeezed() float64 { return c.compress * (1 - c.compressible) }

func (c *cell) squeezedWords() string {
	return fmt.Sprintf("the storage keeps the data of this volume in %.0f %% of their size, where %.0f %% were meant: the disk has less to do than the load asks for",
		100/c.compress, 100*(1-c.compressible))
}

// hollow says why the cell's volume does not hold what the load is to meet, "" when it does.
func (c *cell) hollow(v *record.Volume) string {
	switch share := c.unwritten(v); {
	case share > unwrittenWithheld:
		return c.unwrittenWords(share)
	case c.squeezed() > compressWithheld:
		return c.squeezedWords()
	}
	return ""
}

// warnOfVolume adds the footnotes of a volume that is nearly what it should be.
func (c *cell) warnOfVolume(v *record.Volume, add func(yes bool, format string, args ...any)) {
	share, squeezed := c.unwritten(v), c.squeezed()
	add(share > 0 && share <= unwrittenWithheld, "%s", c.unwrittenWords(share))
	add(squeezed > compressWarned && squeezed <= compressWithheld, "%s", c.squeezedWords())
}
