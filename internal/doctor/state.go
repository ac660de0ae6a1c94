package doctor

import (
	"fmt"
	"strings"

	"github.com/iotax/iotax/internal/unit"
)

// state looks at what earlier runs left.
func (x *exam) state() {
	if where, err := x.Store(); err != nil {
		x.blocked(StateFolder, "store", err)
	} else {
		x.ok(StateFolder, "store", where)
	}
	switch {
	case x.busyErr != nil:
		x.blocked(StateFolder, "lock", x.busyErr)
	case x.busy != "":
		x.add(Finding{
			Area: StateFolder, What: "another run", State: Cannot, Why: x.busy + " is measuring with the same state folder",
			Mend: "iotax run --wait", Blocks: true,
		})
	}
	dead, err := x.Dead()
	if err != nil {
		x.blocked(StateFolder, "journals", err)
	}
	if len(dead) > 0 {
		x.warn(StateFolder, "journals", fmt.Sprintf("%s ended without undoing all changes: %s", unit.Count(len(dead), "run"), strings.Join(dead, ", ")), "iotax clean")
	}
}
