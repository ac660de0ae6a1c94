package emit

import (
	"encoding/json"
	"io"
	"strings"
)

// Schema names the JSON of a configuration.
const Schema = "iotax-emit/1"

// Document is a configuration in JSON: every field is always written, and a list is never null.
type Document struct {
	Schema  string `json:"schema"`
	Version string `json:"version"` // of iotax
	Config
}

// WriteJSON writes the configuration as version of iotax made it.
func WriteJSON(w io.Writer, version string, c Config) error {
	j := json.NewEncoder(w)
	j.SetEscapeHTML(false)
	j.SetIndent("", "  ")
	return j.Encode(Document{Schema, version, c})
}

// Commented returns the configuration with the commands as comments of its language before it, ready to be pasted as a
// whole; and what could not be put into a comment, one line each.
func (c Config) Commented() (text string, rest []string) {
	var b strings.Builder
	for _, command := range c.Commands {
		switch {
		case c.As != Libvirt:
			b.WriteString("# " + command + "\n")
		case strings.Contains(command, "--") || strings.HasSuffix(command, "-"): // which end a comment of XML
			rest = append(rest, "first: "+command)
		default:
			b.WriteString("<!-- " + command + " -->\n")
		}
	}
	return b.String() + c.Text, rest
}
