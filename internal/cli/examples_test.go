package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	shlex "github.com/hugelgupf/go-shlex"
	"github.com/spf13/cobra"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/record"
)

// Every command has an example, and every line of every example works as it stands.
func TestExamples(t *testing.T) {
	for _, cmd := range commands(newApp(testApp("", nil, nil, nil).World).root()) {
		t.Run(strings.ReplaceAll(cmd.CommandPath(), " ", "_"), func(t *testing.T) {
			lines := exampleLines(t, cmd)
			if len(lines) == 0 {
				t.Fatal("no example")
			}
			for _, line := range lines {
				runExample(t, line)
			}
		})
	}
}

// exampleLines are the command lines of an example; whatever else it holds must be a comment.
func exampleLines(t *testing.T, cmd *cobra.Command) (lines []string) {
	for line := range strings.Lines(cmd.Example) {
		line = strings.TrimSpace(line)
		switch {
		case line == "", strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "iotax ") && !strings.ContainsAny(line, "|><&;`$"):
			lines = append(lines, line)
		default:
			t.Errorf("%q cannot be run by a test: one iotax command a line, without the shell's operators", line)
		}
	}
	return lines
}

func runExample(t *testing.T, line string) {
	t.Helper()
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	if err := storeRun(state, "7k2f", record.Partial); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS("testdata/examples")); err != nil { // what the examples of audit name
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	args := shlex.Split(line)[1:]
	a := testApp(dir, map[string]string{"HOME": dir, "IOTAX_STATE": state}, &stdout, &stderr, args...)
	if code := errkind.Code(a.main(t.Context())); code != errkind.OK {
		t.Errorf("%s\nexit code %d\n%s", line, code, stderr.String())
	}
	if stderr.Len() > 0 {
		t.Errorf("%s\nsaid %s", line, stderr.String())
	}
}

// commands lists root and all below it, hidden ones too.
func commands(root *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{root}
	for _, c := range root.Commands() {
		all = append(all, commands(c)...)
	}
	return all
}

// A command says in one line and in a paragraph what it does, and so does each flag.
func TestHelpIsComplete(t *testing.T) {
	for _, cmd := range commands(newApp(testApp("", nil, nil, nil).World).root()) {
		if cmd.Name() == "help" {
			continue
		}
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") || len(cmd.Short) > 65 {
			t.Errorf("%s: a short help of one line without a full stop, got %q", cmd.CommandPath(), cmd.Short)
		}
		if !strings.HasSuffix(cmd.Long, ".") && cmd.Name() != "completion" {
			t.Errorf("%s: a long help that is prose, got %q", cmd.CommandPath(), cmd.Long)
		}
		for line := range strings.Lines(cmd.Long) {
			if len(line) > 121 {
				t.Errorf("%s: a line of help is %d wide", cmd.CommandPath(), len(line))
			}
		}
	}
}
