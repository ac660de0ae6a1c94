package audittext

import (
	"fmt"
	"io"

	"github.com/iotax/iotax/internal/audit"
	"github.com/iotax/iotax/internal/unit"
)

// WriteRules lists rules, one a line or two; whole, with all that is known of each.
func WriteRules(w io.Writer, rules []audit.Rule, whole bool, options Options) error {
	p := newPrinter(options)
	for i, r := range rules {
		if whole && i > 0 {
			p.WriteByte('\n')
		}
		p.title(r, r.Severity)
		if !whole {
			continue
		}
		p.say("looks", r.Looks)
		p.say("why", r.Why)
		p.say("guests", r.Guests)
		p.say("restart", restarts[r.Restart])
		for i, s := range r.Sources {
			p.say([]string{"sources", ""}[min(i, 1)], s)
		}
	}
	if !whole {
		fmt.Fprintf(p, "\n%s. `iotax rules ID` has what each looks for, why, and its sources.\n", unit.Count(len(rules), "rule"))
	}
	_, err := io.WriteString(w, p.String())
	return err
}
