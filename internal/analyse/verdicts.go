package analyse

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// verdicts judges every statement of the experiment.
//
// Each verdict is read off an interval, and a report with twenty of them at 95 % would hold a false one as a rule. All
// intervals are therefore widened to one level, that of Benjamini and Yekutieli's false coverage rate: with R of m statements
// decided at the level 1 - 0.05 R/m, of the intervals that verdicts rest on at most one in twenty is expected not to cover
// (Journal of the American Statistical Association 100, 2005). It is to intervals what Benjamini and Hochberg's correction,
// by which the cells are judged, is to p-values; like that it asks for less than Bonferroni when much can be told, and for the
// same when only one statement can. What is shown is the widened interval, so that the reader sees what the verdict saw.
func (t *table) verdicts(noise Noise) []Verdict {
	out := make([]Verdict, len(t.exp.Statements))
	effects := make([]effect, len(out))
	var uncertain []int
	for i, s := range t.exp.Statements {
		out[i] = Verdict{Statement: s.Text, Verdict: CannotTell, Above: s.Above, Below: s.Below}
		parts, why := t.partsOf(s, &out[i])
		if out[i].Reason = why; len(parts) == 0 {
			continue
		}
		effects[i] = t.effectOf(s, parts)
		if len(s.Over) == 0 {
			out[i].Metric = metricOf(s, parts)
		}
		if effects[i].exact {
			t.judgeStatement(s, &out[i], effects[i], 1-alpha, 1)
		} else {
			uncertain = append(uncertain, i)
		}
	}
	shaken := func(i int) float64 { return t.shaken(t.exp.Statements[i], noise) }
	level := t.verdictLevel(effects, uncertain, shaken)
	for _, i := range uncertain {
		t.judgeStatement(t.exp.Statements[i], &out[i], effects[i], level, shaken(i))
	}
	return out
}

// verdictLevel is the one level of all intervals: see verdicts.
func (t *table) verdictLevel(effects []effect, of []int, shaken func(int) float64) float64 {
	m := float64(max(len(of), 1))
	for decided := len(of); decided > 1; decided-- {
		level := 1 - alpha*float64(decided)/m
		n := 0
		for _, i := range of {
			if read(t.exp.Statements[i], effects[i].estimate(level), shaken(i)) != CannotTell {
				n++
			}
		}
		if n >= decided {
			return level
		}
	}
	return 1 - alpha/m
}

func (t *table) effectOf(s spec.Statement, parts []part) effect {
	if isDerived(s.Metric) && len(s.Over) == 0 {
		return t.level(s.Metric, parts)
	}
	return t.product(s.Metric, parts)
}

func metricOf(s spec.Statement, parts []part) string {
	if s.Metric != "" {
		return s.Metric
	}
	return Headline(parts[0].workload)
}

// partsOf lists the cells of a statement with their powers, or says why it has none. Where all terms have the same workloads
// and most of those have every number, a workload that lacks one is left out of all terms alike, which is said.
func (t *table) partsOf(s spec.Statement, v *Verdict) (parts []part, why string) {
	terms := slices.Concat(s.Of, s.Over)
	left := map[string]bool{}
	var reasons []string
	most := 0
	for _, term := range terms {
		cells := t.matching(term)
		if most = max(most, len(cells)); len(cells) == 0 {
			return nil, term.String() + " is no cell of this run"
		}
		for _, c := range cells {
			if why := t.whyNot(c, s.Metric); why != "" {
				reasons, left[c.Workload] = append(reasons, why), true
			}
		}
	}
	if 2*len(left) >= most || len(left) > 0 && !oneOf(terms) {
		return nil, sentence(reasons)
	}
	if len(left) > 0 {
		why = fmt.Sprintf("judged on %d of %d workloads: %s", most-len(left), most, sentence(reasons))
	}
	for i, term := range terms {
		cells := slices.DeleteFunc(t.matching(term), func(c *cell) bool { return left[c.Workload] })
		if i < len(s.Of) {
			parts = times(parts, mean(cells))
		} else {
			parts = times(parts, inverse(mean(cells)))
		}
	}
	if len(parts) == 0 {
		return nil, "both sides of it are the same"
	}
	return parts, why
}

// oneOf reports whether all terms have the same workloads.
func oneOf(terms []spec.Term) bool {
	return !slices.ContainsFunc(terms, func(x spec.Term) bool { return x.Workload != terms[0].Workload })
}

// sentence joins distinct reasons, three at most.
func sentence(reasons []string) string {
	var distinct []string
	for _, r := range reasons {
		if !slices.Contains(distinct, r) {
			distinct = append(distinct, r)
		}
	}
	const few = 3
	if n := len(distinct); n > few {
		distinct = append(distinct[:few], fmt.Sprintf("and %d more", n-few))
	}
	return strings.Join(distinct, "; ")
}

// read is the verdict that an interval gives. shaken is the factor by which the control differs from its twin, 1
// for a quiet run: within it nothing can be told.
func read(s spec.Statement, e stat.Estimate, shaken float64) string {
	low, high := e.Low/shaken, e.High*shaken
	switch {
	case !e.Known():
		return CannotTell
	case (s.Above == 0 || low > s.Above) && (s.Below == 0 || high < s.Below):
		return Holds
	case s.Above != 0 && high <= s.Above, s.Below != 0 && low >= s.Below:
		return DoesNotHold
	}
	return CannotTell
}

// judgeStatement fills in the verdict; what is in its reason already stands before a new one.
func (t *table) judgeStatement(s spec.Statement, v *Verdict, e effect, level, shaken float64) {
	estimate := e.estimate(level)
	v.Effect, v.Verdict = &estimate, read(s, estimate, shaken)
	if v.Verdict == Holds {
		v.Answer = s.Answer
	}
	if v.Verdict != CannotTell {
		return
	}
	why := ""
	switch {
	case e.Rounds() == 0:
		v.Effect, why = nil, "its cells share no rounds with each other or with the host"
	case !estimate.Known():
		why = "a single round has no interval; it takes two at least"
	case read(s, estimate, 1) != CannotTell:
		why = fmt.Sprintf("conditions changed under the run: the host, measured twice, differs from itself by up to %.0f %%", 100*(shaken-1))
	default:
		why = wouldTake(s, e, estimate, level)
	}
	v.Reason = strings.TrimPrefix(v.Reason+"; "+why, "; ")
}

// wouldTake says which bound the interval reaches over and what would tell.
func wouldTake(s spec.Statement, e effect, at stat.Estimate, level float64) string {
	distance, bound := math.Inf(1), 0.0
	for _, b := range []float64{s.Above, s.Below} {
		if b == 0 || !at.Contains(b) {
			continue
		}
		d := math.Abs(math.Log(at.Value / b))
		if e.metric != "" {
			d = math.Abs(at.Value - b)
		}
		outside := b == s.Above && at.Value < b || b == s.Below && at.Value > b
		if d < distance || outside {
			distance, bound = d, b
		}
		if outside {
			break
		}
	}
	over := fmt.Sprintf("the interval reaches over %.4g", bound)
	const few, many = 5, 1000
	switch more := e.MoreRounds(distance, level); {
	case e.Rounds() < few:
		return fmt.Sprintf("%s: %s are too few to tell, or to say how many would; it takes %d at least", over, unit.Count(e.Rounds(), "round"), few)
	case more < 0:
		return over + ": boots differ by more than that, and it takes more of them"
	case more > many:
		return over + ", and the effect is too near to it for any bearable number of rounds"
	default:
		return fmt.Sprintf("%s: about %s would tell, if the effect stays where it is", over, unit.Count(max(more, 1), "more round"))
	}
}

// shaken is the factor by which the host differs from its twin beyond chance under a workload of the statement, 1 when it does not.
func (t *table) shaken(s spec.Statement, noise Noise) float64 {
	factor := 1.0
	if isDerived(s.Metric) {
		return factor
	}
	for _, term := range slices.Concat(s.Of, s.Over) {
		for _, c := range t.matching(term) {
			if b := noise.ByWorkload[c.Workload]; b.Alarm {
				factor = max(factor, b.High)
			}
		}
	}
	return factor
}
