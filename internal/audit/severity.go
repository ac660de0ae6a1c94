package audit

import (
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/suggest"
)

// Severity is how bad a finding is; a greater one is worse.
type Severity int

// The severities.
const (
	Hygiene    Severity = iota + 1 // costs little now, and more or surprise later
	SmallLoss                      // some percent, or a lot in few cases
	LargeLoss                      // a good part of what the storage could do
	DataAtRisk                     // data that a guest was told is safe can be lost
)

// Severities lists them, the worst first.
var Severities = []Severity{DataAtRisk, LargeLoss, SmallLoss, Hygiene}

var severityNames = map[Severity]string{
	DataAtRisk: "data-at-risk", LargeLoss: "large-loss", SmallLoss: "small-loss", Hygiene: "hygiene",
}

// SeverityNames lists the names that ParseSeverity takes, the worst first.
func SeverityNames() []string {
	names := make([]string, len(Severities))
	for i, s := range Severities {
		names[i] = severityNames[s]
	}
	return names
}

// ParseSeverity reads a name.
func ParseSeverity(name string) (Severity, error) {
	names := SeverityNames()
	word := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), " ", "-")
	i := slices.Index(names, word)
	if i < 0 {
		err := errkind.Userf("%q is not a severity; expected %s", name, strings.Join(names, ", "))
		if near := suggest.Nearest(word, names); near != "" {
			err = errkind.WithHint(err, "did you mean %s?", near)
		}
		return 0, err
	}
	return Severities[i], nil
}

// Name is the severity as one word, for JSON and flags.
func (s Severity) Name() string { return severityNames[s] }

// String is the severity for a person: "data at risk".
func (s Severity) String() string { return strings.ReplaceAll(s.Name(), "-", " ") }

// MarshalText writes the name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.Name()), nil }

// UnmarshalText reads a name.
func (s *Severity) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSeverity(string(text))
	return err
}
