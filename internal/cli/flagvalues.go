package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// enum is the value of a flag that takes one of a few words.
type enum struct {
	value   *string
	allowed []string
}

// String is the word that is set.
func (e enum) String() string { return *e.value }

// Type is what the help shows in place of a value.
func (e enum) Type() string { return strings.Join(e.allowed, "|") }

// Set takes one of the allowed words.
func (e enum) Set(word string) error {
	if !slices.Contains(e.allowed, word) {
		return fmt.Errorf("%q is not one of %s", word, strings.Join(e.allowed, ", "))
	}
	*e.value = word
	return nil
}

// enumFlag adds a flag that takes one of the allowed words, completed by the shell. The first is the default.
func enumFlag(cmd *cobra.Command, value *string, name, usage string, allowed ...string) {
	*value = allowed[0]
	cmd.Flags().Var(enum{value, allowed}, name, usage)
	complete(cmd, name, func() []string { return allowed })
}

// parsed is the value of a flag whose text is read by one of our own parsers.
type parsed[T any] struct {
	value *T
	parse func(string) (T, error)
	text  string
}

// String is the text that was given.
func (p *parsed[T]) String() string { return p.text }

// Type is never shown: each such flag names its value in its usage.
func (p *parsed[T]) Type() string { return "value" }

// Set reads the text.
func (p *parsed[T]) Set(text string) (err error) {
	p.text = text
	*p.value, err = p.parse(text)
	return err
}

// parsedFlag adds a flag that parse reads.
func parsedFlag[T any](cmd *cobra.Command, value *T, parse func(string) (T, error), name, usage string) {
	cmd.Flags().Var(&parsed[T]{value: value, parse: parse}, name, usage)
}

// complete lets the shell complete the values of a flag.
func complete(cmd *cobra.Command, flag string, values func() []string) {
	err := cmd.RegisterFlagCompletionFunc(flag,
		func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return values(), cobra.ShellCompDirectiveNoFileComp
		})
	if err != nil {
		panic(err) // the flag does not exist: a slip in this package
	}
}
