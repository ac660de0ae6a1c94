// Package html renders a result as one self-contained HTML page: it opens on the answer, works without
// a network or a script, in light and dark, on paper and on a phone. It formats and draws; it computes nothing.
package html

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"

	"github.com/iotax/iotax/internal/analyse"
)

//go:embed style.css
var style string

//go:embed *.tmpl
var templates embed.FS

var tmpl = template.Must(template.New("page.tmpl").
	Funcs(template.FuncMap{"inc": func(i int) int { return i + 1 }}).
	ParseFS(templates, "*.tmpl"))

// Write renders r to w as UTF-8 HTML. It fails only when w fails.
func Write(w io.Writer, r analyse.Result) error {
	b := bufio.NewWriterSize(w, 1<<16)
	if err := tmpl.Execute(b, build(r)); err != nil {
		return err
	}
	return b.Flush()
}

// policy is the page's Content-Security-Policy: nothing may be loaded, nothing may run, and the one
// style sheet is known by its hash.
func policy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'"
}
