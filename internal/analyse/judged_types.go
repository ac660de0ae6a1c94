package analyse

import "github.com/iotax/iotax/internal/stat"

// Verdicts on a statement.
const (
	Holds       = "holds"
	DoesNotHold = "does not hold"
	CannotTell  = "cannot tell"
)

// Verdict is what a run says of a published statement.
type Verdict struct {
	Statement string
	Verdict   string         // Holds, DoesNotHold or CannotTell
	Metric    string         // the effect is in this metric's unit; "" = it is a ratio
	Above     float64        // the statement's own bounds, 0 = none
	Below     float64        //
	Effect    *stat.Estimate // nil when there is no number. Its interval is that of all verdicts together: see verdicts
	Reason    string         // why it cannot be told and what it would take, or what a verdict leaves out
	Answer    string         // the statement's, when it holds
}

// Figure is one of the experiment's figures, ready to be drawn.
type Figure struct {
	Title  string
	Kind   string      // of spec.FigureKinds
	Panels []Panel     // none for a ladder
	Ladder *LadderBill // only for a ladder
}

// Panel is a grid of values, a row for each stack: of lines one load, its columns being iodepths; of bars all loads; of a
// table one load, its columns being metrics; of settings the settings.
type Panel struct {
	Title   string // "" when the figure's says it all
	Columns []Column
	Rows    []PanelRow
}

// Column is what the values below it have in common. Metric is "" in a panel of settings.
type Column struct {
	Name     string // workload, metric or setting
	Workload string // "" in a panel of settings
	Metric   string
	IODepth  int // of its workload
}

// PanelRow is one stack, with a value for each column.
type PanelRow struct {
	Stack  string
	Values []PanelValue
}

// PanelValue is an estimate in its metric's unit, or the text of a setting, or the reason why there is neither.
type PanelValue struct {
	Estimate *stat.Estimate
	BestOfN  *BestOfN // beside the estimate of a headline metric
	Text     string
	Status   string // of record: OK when there is a value
	Reason   string
}

// LadderBill is what each step of a ladder is worth: factors of the metric, above 1 for more of it, as geometric means
// over Workloads. The factors of the steps together multiply up to Total, and their shares add up to 1.
type LadderBill struct {
	Base, Top   string   // stacks; Top is the highest one that has numbers
	Metric      string   // "" = the headline of each workload
	Workloads   []string // those under which every stack of the ladder has a number
	LeftOut     []string // stacks and workloads that are not in it, with the reasons
	Steps       []LadderStep
	Total       *stat.Estimate // Top over Base
	Interaction *stat.Estimate // Total over the product of the steps alone: what they give or take by being combined
	Reason      string         // why there is no Total, or no Interaction
}

// LadderStep is one step: alone on the base, together with all before it, and what taking it off the top costs.
type LadderStep struct {
	Title    string
	Alone    Worth
	Together Worth
	Without  Worth
	Share    *float64 // of the log of Total, in the order of the ladder; nil when Total cannot be told from 1
}

// Worth is a factor with its interval, or the reason why there is none; the zero value is a step that was not asked.
type Worth struct {
	Stack  string
	Factor *stat.Estimate
	Reason string
	Mend   string   // the command that would make the stack available
	Across []string // titles of steps without a number that this factor holds as well
}
