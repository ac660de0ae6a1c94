package doctor

import (
	"encoding/json"
	"io"
)

// Schema names the JSON document; docs/JSON.md describes it, and what is promised of it.
const Schema = "iotax-doctor/1"

// Document is an examination as JSON.
type Document struct {
	Schema   string    `json:"schema"`
	Version  string    `json:"version"` // of iotax
	CanStart bool      `json:"can_start"`
	Findings []Finding `json:"findings"`
}

// WriteJSON writes what an iotax of this version found.
func WriteJSON(w io.Writer, version string, findings []Finding) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if findings == nil {
		findings = []Finding{}
	}
	return e.Encode(Document{Schema, version, CanStart(findings), findings})
}
