package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/iotax/iotax/internal/audit"
	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/report/auditjson"
	"github.com/iotax/iotax/internal/report/audittext"
)

func (a *app) rulesCmd() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "rules [ID...]",
		Short: "List the rules of iotax audit",
		Long: `rules lists what iotax audit looks for, each rule with its severity. With IDs it says of each of these rules what it
looks for and what it leaves alone, why that is bad, which guests can take the change, what must restart for it to take
effect, and where that is from.`,
		Example: `  iotax rules

  # all that is known of two of them
  iotax rules IOT001 IOT004

  # the catalogue for a program
  iotax rules --format json`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return ruleIDs(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			rules, err := rulesNamed(args)
			if err != nil {
				return err
			}
			if format == "json" {
				return auditjson.WriteRules(a.Stdout, Version(), rules)
			}
			return audittext.WriteRules(a.Stdout, rules, len(args) > 0, audittext.Options{Options: a.textOptions()})
		},
	}
	enumFlag(cmd, &format, "format", "what to print", "text", "json")
	return cmd
}

// rulesNamed finds rules by their IDs, all rules without any. All that are unknown are one fault each.
func rulesNamed(ids []string) ([]audit.Rule, error) {
	if len(ids) == 0 {
		return audit.Rules(), nil
	}
	var rules []audit.Rule
	var faults errkind.List
	for _, id := range ids {
		r, ok := audit.Find(id)
		if !ok {
			fault := errkind.Userf("there is no rule %q", id)
			if near := perhaps(strings.ToUpper(id), justIDs()); strings.HasPrefix(near, "did") {
				fault = errkind.WithHint(fault, "%s", near)
			} else {
				fault = errkind.WithHint(fault, "`iotax rules` lists them")
			}
			faults = append(faults, fault)
			continue
		}
		if !slices.ContainsFunc(rules, func(known audit.Rule) bool { return known.ID == r.ID }) {
			rules = append(rules, r)
		}
	}
	return rules, faults.Err()
}

// parseRules reads IDs that commas part, and gives them as the catalogue writes them.
func parseRules(text string) ([]string, error) {
	rules, err := rulesNamed(strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }))
	if err != nil {
		return nil, err
	}
	if strings.Trim(text, ", ") == "" {
		return nil, errkind.Userf("expected IDs of rules, such as IOT001,IOT004")
	}
	ids := make([]string, len(rules))
	for i, r := range rules {
		ids[i] = r.ID
	}
	return ids, nil
}

func justIDs() (ids []string) {
	for _, r := range audit.Rules() {
		ids = append(ids, r.ID)
	}
	return ids
}

// ruleIDs lists the rules for the shell's completion, each with its title.
func ruleIDs() (ids []string) {
	for _, r := range audit.Rules() {
		ids = append(ids, r.ID+"\t"+r.Title)
	}
	return ids
}

// never is the word of --fail-on for an audit that does not fail whatever it finds.
const never = "none"

func failOnWords() []string { return append(audit.SeverityNames(), never) }

// parseFailOn reads a severity, 0 for none.
func parseFailOn(word string) (audit.Severity, error) {
	if strings.EqualFold(strings.TrimSpace(word), never) {
		return 0, nil
	}
	s, err := audit.ParseSeverity(word)
	if err != nil {
		return 0, errkind.Userf("%q is not one of %s", word, strings.Join(failOnWords(), ", "))
	}
	return s, nil
}
