package jsonout

import (
	"github.com/iotax/iotax/internal/analyse"
)

// Verdict is what the run says of a published statement.
type Verdict struct {
	Statement string    `json:"statement"`
	Verdict   string    `json:"verdict"`
	Effect    *Estimate `json:"effect"`
	Metric    string    `json:"metric"`
	Above     *float64  `json:"above"`
	Below     *float64  `json:"below"`
	Reason    string    `json:"reason"`
	Answer    string    `json:"answer"`
}

// Figure is one of the experiment's charts and tables.
type Figure struct {
	Title  string  `json:"title"`
	Kind   string  `json:"kind"`
	Panels []Panel `json:"panels"`
	Ladder *Ladder `json:"ladder"`
}

// Panel is a grid of values.
type Panel struct {
	Title   string   `json:"title"`
	Columns []Column `json:"columns"`
	Rows    []Row    `json:"rows"`
}

// Column heads the values of a panel.
type Column struct {
	Name     string `json:"name"`
	Workload string `json:"workload"`
	Metric   string `json:"metric"`
	IODepth  int    `json:"iodepth"`
}

// Row is a stack, with a value for each column.
type Row struct {
	Stack  string  `json:"stack"`
	Values []Value `json:"values"`
}

// Value is an estimate, or the text of a setting, or a reason.
type Value struct {
	Status   string    `json:"status"`
	Estimate *Estimate `json:"estimate"`
	BestOfN  *BestOfN  `json:"best_of_n"`
	Text     string    `json:"text"`
	Reason   string    `json:"reason"`
}

// Ladder is the itemised bill.
type Ladder struct {
	Base        string    `json:"base"`
	Top         string    `json:"top"`
	Metric      string    `json:"metric"`
	Workloads   []string  `json:"workloads"`
	LeftOut     []string  `json:"left_out"`
	Steps       []Step    `json:"steps"`
	Total       *Estimate `json:"total"`
	Interaction *Estimate `json:"interaction"`
	Reason      string    `json:"reason"`
}

// Step is one step of a ladder.
type Step struct {
	Title    string   `json:"title"`
	Alone    Worth    `json:"alone"`
	Together Worth    `json:"together"`
	Without  Worth    `json:"without"`
	Share    *float64 `json:"share"`
}

// Worth is a factor or the reason why there is none.
type Worth struct {
	Stack  string    `json:"stack"`
	Factor *Estimate `json:"factor"`
	Reason string    `json:"reason"`
	Mend   string    `json:"mend"`
	Across []string  `json:"across"`
}

func verdict(v analyse.Verdict) Verdict {
	return Verdict{
		Statement: v.Statement, Verdict: v.Verdict, Effect: estimate(v.Effect), Metric: v.Metric,
		Above: bound(v.Above), Below: bound(v.Below), Reason: v.Reason, Answer: v.Answer,
	}
}

// bound is null where there is none.
func bound(v float64) *float64 {
	if v == 0 {
		return nil
	}
	return number(v)
}

func figure(f analyse.Figure) Figure {
	out := Figure{Title: f.Title, Kind: f.Kind, Panels: list(f.Panels, panel)}
	if f.Ladder != nil {
		out.Ladder = ladder(*f.Ladder)
	}
	return out
}

func panel(p analyse.Panel) Panel {
	return Panel{
		Title:   p.Title,
		Columns: list(p.Columns, func(c analyse.Column) Column { return Column(c) }),
		Rows: list(p.Rows, func(r analyse.PanelRow) Row {
			return Row{Stack: r.Stack, Values: list(r.Values, value)}
		}),
	}
}

func value(v analyse.PanelValue) Value {
	out := Value{Status: v.Status, Estimate: estimate(v.Estimate), Text: v.Text, Reason: v.Reason}
	if v.BestOfN != nil {
		out.BestOfN = bestOfN(v.BestOfN)
	}
	return out
}

func ladder(b analyse.LadderBill) *Ladder {
	return &Ladder{
		Base: b.Base, Top: b.Top, Metric: b.Metric, Workloads: all(b.Workloads), LeftOut: all(b.LeftOut),
		Total: estimate(b.Total), Interaction: estimate(b.Interaction), Reason: b.Reason,
		Steps: list(b.Steps, func(s analyse.LadderStep) Step {
			out := Step{Title: s.Title, Alone: worth(s.Alone), Together: worth(s.Together), Without: worth(s.Without)}
			if s.Share != nil {
				out.Share = number(*s.Share)
			}
			return out
		}),
	}
}

func worth(w analyse.Worth) Worth {
	return Worth{Stack: w.Stack, Factor: estimate(w.Factor), Reason: w.Reason, Mend: w.Mend, Across: all(w.Across)}
}
