package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Mentions of a command line: in backquotes anywhere, and at the start of a line of a shell block in a document.
var (
	quoted  = regexp.MustCompile("`(?:sudo |\\./|bin/)*iotax ([^`\n]+)`")
	inBlock = regexp.MustCompile(`(?m)^(?:\$ )?(?:sudo |\./|bin/)*iotax ([^\n|>#]+)`)
)

// Every command line that a document, a comment, a hint or a script tells somebody to type exists, flags included.
func TestMentionedCommandsExist(t *testing.T) {
	root := testApp("/", nil, nil, nil).root()
	root.InitDefaultHelpCmd()
	found := 0
	walk(t, func(path, text string) {
		mentions := quoted.FindAllStringSubmatch(text, -1)
		if filepath.Ext(path) == ".md" {
			for _, block := range regexp.MustCompile("(?s)```sh?\n(.*?)```").FindAllStringSubmatch(text, -1) {
				mentions = append(mentions, inBlock.FindAllStringSubmatch(block[1], -1)...)
			}
		}
		for _, m := range mentions {
			found++
			line, _, _ := strings.Cut(m[1], " | ")
			if fault := unreal(root, strings.Fields(line)); fault != "" {
				t.Errorf("%s: iotax %s: %s", path, m[1], fault)
			}
		}
	})
	if found < 20 {
		t.Errorf("only %d mentions found: the search does not work", found)
	}
}

// unreal says what of a command line does not exist, "" when all does.
func unreal(root *cobra.Command, words []string) string {
	cmd, _, err := root.Find(words)
	if err != nil || cmd == root && !strings.HasPrefix(words[0], "-") {
		return "no such command"
	}
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	for _, word := range words {
		name, isLong := strings.CutPrefix(word, "--")
		name, _, _ = strings.Cut(strings.TrimRight(name, ".,;:)"), "=")
		if isLong && cmd.Flags().Lookup(name) == nil {
			return "no flag --" + name
		}
		if short, ok := strings.CutPrefix(word, "-"); ok && !isLong && len(short) == 1 && cmd.Flags().ShorthandLookup(short) == nil {
			return "no flag -" + short
		}
	}
	return ""
}

// walk gives f every text of the repository that may name a command.
func walk(t *testing.T, f func(path, text string)) {
	t.Helper()
	const root = "../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "bin", "out", "testdata"}, d.Name()):
			return fs.SkipDir
		case d.IsDir() || strings.HasSuffix(path, "_test.go") || !slices.Contains([]string{".go", ".md", ".sh", ".tmpl"}, filepath.Ext(path)):
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			f(path, string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The search itself: it sees what is wrong.
func TestUnreal(t *testing.T) {
	root := testApp("/", nil, nil, nil).root()
	for line, want := range map[string]string{
		"run --quick":             "",
		"run -f FILE --seed=4":    "",
		"report 7k2f -o x":        "",
		"--version":               "",
		"rnu":                     "no such command",
		"run --qick":              "no flag --qick",
		"report --format json -z": "no flag -z",
	} {
		if got := unreal(root, strings.Fields(line)); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
