// Package doctor examines a host: what can be measured on it, what cannot, why, and the command that mends it. It
// changes nothing but iotax's own cache.
package doctor

import (
	"context"
	"errors"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/qemu/caps"
)

// State is how a thing stands.
type State string

// The states of a finding.
const (
	OK      State = "ok"
	Warning State = "warning" // it can be measured, and the figures may suffer
	Cannot  State = "cannot"  // it cannot be measured
)

// Areas of findings, in the order in which they are told.
const (
	Tools       = "tools"
	Guest       = "guest"
	Accelerator = "accelerator"
	Stacks      = "stacks"
	Scratch     = "scratch"
	StateFolder = "state"
	Host        = "host"
)

// Finding is one thing that was looked at.
type Finding struct {
	Area   string `json:"area"`
	What   string `json:"what"` // a program, a stack's name, a part of the host
	State  State  `json:"state"`
	Why    string `json:"why"`    // what was found; unless ok, the reason. One line, may be empty
	Mend   string `json:"mend"`   // the command or change that mends it; may be empty
	Blocks bool   `json:"blocks"` // the default run cannot start because of this
}

// CanStart reports whether nothing that was found keeps the default run from starting.
func CanStart(findings []Finding) bool {
	for _, f := range findings {
		if f.Blocks {
			return false
		}
	}
	return true
}

// Examine looks at everything, in the order of the areas. What cannot be looked at is a finding too.
func Examine(ctx context.Context, d Deps) []Finding {
	x := &exam{Deps: d}
	x.busy, x.busyErr = d.Running()
	x.tools(ctx)
	x.guest(ctx)
	x.accelerator(ctx)
	x.stacks(ctx)
	x.scratch()
	x.state()
	x.host()
	return x.findings
}

// exam is one examination: what was found, and what later questions need to know of it.
type exam struct {
	Deps
	findings []Finding

	busy        string // another iotax that is measuring now
	busyErr     error
	qemu        string // paths, "" when missing
	fio, ioping string
	caps        *caps.Caps // nil when QEMU could not be asked
	kernel      bool       // the guest's kernel is on this host
	unreachable bool       // the guest cannot be built at all
}

func (x *exam) add(f Finding) { x.findings = append(x.findings, f) }

func (x *exam) ok(area, what, why string) {
	x.add(Finding{Area: area, What: what, State: OK, Why: why})
}

func (x *exam) warn(area, what, why, mend string) {
	x.add(Finding{Area: area, What: what, State: Warning, Why: why, Mend: mend})
}

// blocked records an error that keeps the default run from starting.
func (x *exam) blocked(area, what string, err error) {
	why, mend := explain(err)
	x.add(Finding{Area: area, What: what, State: Cannot, Why: why, Mend: mend, Blocks: true})
}

// explain parts an error from the hint that it carries, each on one line.
func explain(err error) (why, mend string) {
	why = err.Error()
	var e *errkind.Error
	if errors.As(err, &e) && e.Hint != "" && e.Error() == why {
		why, mend = e.Err.Error(), e.Hint
	}
	return line(why), line(mend)
}

func line(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", "; ") }
