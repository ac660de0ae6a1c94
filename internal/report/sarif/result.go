package sarif

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/iotax/iotax/internal/audit/outcome"
	"github.com/iotax/iotax/internal/linediff"
)

func resultOf(f outcome.Finding, ruleIndex int) result {
	out := result{
		RuleID: f.Rule, RuleIndex: ruleIndex, Level: level(f.Severity), Message: message{said(f)},
		Fingerprints: map[string]string{"iotax/v1": fingerprint(f)},
		Locations:    []location{locationOf(f)},
		Properties: properties{
			Severity: f.Severity.Name(), Setting: f.Setting, Effective: f.Effective, Default: f.Default, Restart: string(f.Restart),
			Needs: f.Needs, Commands: f.Commands, Price: f.Price,
		},
	}
	if len(f.Edits) == 0 {
		return out
	}
	change := artifactChange{Artifact: address(f.Subject.File)}
	for _, e := range f.Edits {
		change.Replacements = append(change.Replacements, replacementOf(e))
	}
	out.Fixes = []fix{{Description: message{describe(f)}, Changes: []artifactChange{change}}}
	return out
}

func said(f outcome.Finding) string {
	return strings.Join(append(owner(f), f.Of.Title), " ") + ": " + f.Why
}

// owner is the machine and the disk; both may be missing.
func owner(f outcome.Finding) (words []string) {
	for _, w := range []string{f.VM, f.Disk} {
		if w != "" {
			words = append(words, w)
		}
	}
	return words
}

func describe(f outcome.Finding) string {
	var all []string
	for _, c := range f.Changes {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s=%s", c.Disk, c.Setting, c.Value)))
	}
	return strings.Join(all, ", ")
}

// fingerprint stays the same when lines move: it is made of what the finding is about.
func fingerprint(f outcome.Finding) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{f.Rule, f.Subject.File, f.VM, f.Part, f.Disk, f.Setting, f.Volume}, "\x00")))
	return hex.EncodeToString(sum[:16])
}

func locationOf(f outcome.Finding) location {
	at := f.At
	if at.File == "" {
		at = f.Subject
	}
	var l location
	if at.File != "" {
		l.Physical = &physical{Artifact: address(at.File)}
		if at.Line > 0 {
			l.Physical.Region = &region{StartLine: at.Line}
		}
	}
	if words := owner(f); len(words) > 0 {
		l.Logical = []logical{{Name: words[len(words)-1], FullyQualifiedName: strings.Join(words, "/"), Kind: "resource"}}
	}
	return l
}

// replacementOf replaces whole lines. Where both sides end with a line end, that of the file stays: a region that ended in the
// line behind the last one would be outside of the file.
func replacementOf(e linediff.Edit) replacement {
	text := strings.Join(e.New, "")
	at := region{StartLine: e.Line, StartColumn: 1, EndLine: e.Line, EndColumn: 1}
	if n := len(e.Old); n > 0 {
		last := e.Old[n-1]
		if strings.HasSuffix(last, "\n") && !strings.HasSuffix(text, "\n") {
			at.EndLine = e.Line + n
		} else {
			if strings.HasSuffix(last, "\n") {
				last, text = strings.TrimSuffix(last, "\n"), strings.TrimSuffix(text, "\n")
			}
			at.EndLine, at.EndColumn = e.Line+n-1, len(utf16.Encode([]rune(last)))+1
		}
	}
	r := replacement{Deleted: at}
	if text != "" {
		r.Inserted = &content{text}
	}
	return r
}
