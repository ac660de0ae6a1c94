package analyse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

const oneBoot = "one boot: what another boot would change is not in the intervals"

// bootWarnings says what the boots of the run tell and what they cannot: with one boot of each stack nothing is known of
// what another would change, and where boots differ beyond chance the reader should know by how much.
func (t *table) bootWarnings() []string {
	interval := false
	var cells []*cell
	var p []float64
	for _, c := range t.order {
		if !c.guest || len(c.series) < 2 || c.workload.Held() { // the shares of a held load are no shares
			continue
		}
		interval = true
		if c.series.Boots() > 1 {
			cells, p = append(cells, c), append(p, stat.BootsDiffer(c.series))
		}
	}
	switch {
	case interval && len(cells) == 0:
		return []string{oneBoot}
	case !interval:
		return nil
	}
	var differ []string
	for i, q := range stat.Holm(p) {
		if q <= alpha {
			differ = append(differ, cells[i].Stack+" under "+cells[i].Workload)
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("boots differ beyond chance in %d of %s (%s); from boot to boot shares move by about %.1f %%, "+
		"and the intervals allow for it", len(differ), unit.Count(len(cells), "cell"), firstFew(differ), 100*t.ratios(cells[0]).SD())}
}

// rebooted reports whether a guest stack was measured in more than one boot.
func (t *table) rebooted() bool {
	return slices.ContainsFunc(t.order, func(c *cell) bool { return c.guest && c.series.Boots() > 1 })
}

// firstFew lists three names and counts the others.
func firstFew(names []string) string {
	const few = 3
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}
