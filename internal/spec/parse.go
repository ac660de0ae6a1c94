package spec

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/iotax/iotax/internal/errkind"
)

// Bounds of a file. The YAML parser takes time that grows with the square of the keys in one mapping
// (24 s for 1 MiB of them), hence the second. A real experiment has a few hundred tokens, the largest that
// is allowed, written out, about 8000.
const (
	maxFile   = 1 << 20
	maxTokens = 20_000
)

// Parse reads an experiment written in YAML. name is the file's name, for messages and, without its
// extension, for Experiment.Name. The keys are the JSON names of the types of this package, with sizes
// as unit.ParseBytes and times as unit.ParseDuration read them, and besides:
//
//   - extends: the preset that gives what the file leaves out, "default" when it is not there. A list that
//     is there replaces the preset's.
//   - an item of stacks or workloads that is a word stands for the one of that name in the preset.
//   - matrix, in a stack or workload: a mapping from keys to lists. The item becomes one for each
//     combination, called after its values: "disk.cache-none.aio-native".
//   - exclude, beside matrix: a list of mappings; a combination that has all values of one is left out.
//
// The error is an errkind.List that holds every fault at once, one line each:
// "lab.yaml:12:12  stacks[1].cache: what is wrong, what was expected".
func Parse(name string, data []byte) (Experiment, error) {
	return parse(name, data, "default")
}

// parse is Parse with the preset that a file without "extends" extends, "" for none.
func parse(name string, data []byte, extends string) (Experiment, error) {
	f := newFaults(name)
	doc, err := read(name, data)
	if err != nil {
		return Experiment{}, errkind.List{err}
	}
	d := decoder{faults: f, anchors: anchors(doc)}
	e := d.experiment(doc.Body, extends)
	if e.Name == "" {
		e.Name = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	}
	validate(f, e)
	if err := f.err(); err != nil {
		return Experiment{}, err
	}
	return Complete(e), nil
}

// read turns the text into the one YAML document that it must hold.
func read(name string, data []byte) (*ast.DocumentNode, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(data) > maxFile {
		return nil, errkind.Userf("%s: the file has %d bytes; an experiment has at most 1 MiB", name, len(data))
	}
	if !utf8.Valid(data) {
		return nil, errkind.Userf("%s: the file is not UTF-8 text; expected YAML", name)
	}
	tokens := lexer.Tokenize(string(data))
	if len(tokens) > maxTokens {
		return nil, errkind.Userf("%s: the file has %d YAML tokens; an experiment has at most %d", name, len(tokens), maxTokens)
	}
	if second := secondDocument(tokens); second != nil {
		return nil, errkind.Userf("%s:%d:%d  a second YAML document begins here; expected one experiment per file",
			name, second.Position.Line, second.Position.Column)
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // duplicates are a fault of ours, with both lines
	if err != nil {
		return nil, syntaxFault(name, err)
	}
	for _, doc := range file.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.NullType {
			return doc, nil
		}
	}
	return nil, errkind.Userf("%s: the file is empty; expected an experiment, for example \"extends: quick\"", name)
}

// secondDocument returns the "---" that opens a second document, nil when there is none.
func secondDocument(tokens token.Tokens) *token.Token {
	content := false
	for _, t := range tokens {
		switch t.Type {
		case token.DocumentHeaderType:
			if content {
				return t
			}
		case token.CommentType, token.DirectiveType:
		default:
			content = true
		}
	}
	return nil
}

// syntaxFault brings the parser's message, which spans several lines, into our form.
func syntaxFault(name string, err error) error {
	var y yaml.Error
	if !errors.As(err, &y) || y.GetToken() == nil {
		return errkind.Userf("%s: not valid YAML: %s", name, oneLine(err.Error()))
	}
	p := y.GetToken().Position
	return errkind.Userf("%s:%d:%d  not valid YAML: %s", name, p.Line, p.Column, oneLine(y.GetMessage()))
}

func oneLine(s string) string {
	return clip(strings.Join(strings.Fields(strings.ReplaceAll(s, "\t", "\\t")), " "))
}

// anchors finds every anchor of a document by name.
func anchors(doc *ast.DocumentNode) map[string]ast.Node {
	found := map[string]ast.Node{}
	for _, n := range ast.Filter(ast.AnchorType, doc) {
		a := n.(*ast.AnchorNode)
		found[fmt.Sprint(a.Name)] = a.Value
	}
	return found
}
