package spec

import "strings"

// Statement is a published conclusion, or an open question, put so that a run can judge it: an effect and the
// range in which it must lie for the statement to hold.
//
// The effect of a ratio is the product of its Of terms over the product of its Over terms, each term being the
// geometric mean of a metric over a stack's workloads, and all being paired by round where they share a boot. It holds
// when its whole interval lies above Above (0: no bound) and below Below (0: no bound), does not hold when the whole
// interval lies outside, and cannot be told otherwise.
//
// Without Over the effect is the metric itself, as for a share such as record.RAMShare.
type Statement struct {
	Text   string  `json:"text"`             // what was published, in our words
	Metric string  `json:"metric,omitempty"` // of record's, "" = the headline of each workload
	Of     []Term  `json:"of"`
	Over   []Term  `json:"over,omitempty"`
	Above  float64 `json:"above,omitempty"`
	Below  float64 `json:"below,omitempty"`
	Answer string  `json:"answer,omitempty"` // what it means, said beside a verdict that holds
}

// Term is a stack, or the host, under some workloads. It is written "stack:workload", where the workload may hold "*".
type Term struct {
	Stack    string `json:"stack"`
	Workload string `json:"workload"` // a name, or a pattern of path.Match for several
}

// ParseTerm reads "stack:workload".
func ParseTerm(text string) (Term, error) {
	stack, workload, ok := strings.Cut(text, ":")
	if !ok || stack == "" || workload == "" {
		return Term{}, expected("a stack and a workload such as \"sata:randread-4k\"", text)
	}
	return Term{Stack: stack, Workload: workload}, nil
}

// String is the text that ParseTerm reads.
func (t Term) String() string { return t.Stack + ":" + t.Workload }

// Kinds of figures.
const (
	Lines    = "lines"    // one line for each stack, over iodepth
	Bars     = "bars"     // a group of bars for each workload, one for each stack
	Table    = "table"    // a row for each stack, a column for each metric, of one workload
	Ladder   = "ladder"   // what each step from Base to the last one is worth, alone and together
	Settings = "settings" // a row for each stack, a column for each effective setting
)

// FigureKinds lists them.
var FigureKinds = []string{Lines, Bars, Table, Ladder, Settings}

// Figure is a chart or table that a report shows of an experiment.
type Figure struct {
	Title     string   `json:"title"`
	Kind      string   `json:"kind"`                // one of FigureKinds
	Metric    string   `json:"metric,omitempty"`    // of lines, bars and ladder; "" = the headline of each workload
	Stacks    []string `json:"stacks,omitempty"`    // names or patterns; none = all, and the host
	Workloads []string `json:"workloads,omitempty"` // names or patterns; none = all
	Columns   []string `json:"columns,omitempty"`   // of a table: metrics; of settings: names of effective settings
	Best      bool     `json:"best,omitempty"`      // of bars: the best of all rounds too, as programs print it that keep no other
	Base      string   `json:"base,omitempty"`      // of a ladder: the stack it starts from
	Steps     []Step   `json:"steps,omitempty"`     // of a ladder
}

// Step is one step of a ladder; each of its stacks may be "".
type Step struct {
	Title    string `json:"title"`
	Alone    string `json:"alone,omitempty"`    // the base with this step only
	Together string `json:"together,omitempty"` // the base with this step and all before it
	Without  string `json:"without,omitempty"`  // the top of the ladder without this step
}
