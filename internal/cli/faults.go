package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/suggest"
)

// perhaps says which of known the word was perhaps meant to be, else lists them all.
func perhaps(word string, known []string) string {
	switch near := suggest.Nearest(word, known); {
	case near != "":
		return fmt.Sprintf("did you mean %q?", near)
	case len(known) == 0:
		return "there is none"
	}
	return "known: " + strings.Join(known, ", ")
}

// flagFault turns pflag's errors into faults of the user.
func flagFault(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, "--"+f.Name)
			}
		})
		word := "--" + unknown.GetSpecifiedName()
		return errkind.Userf("%s has no flag %s; %s", cmd.CommandPath(), word, perhaps(word, names))
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return errkind.Userf("--%s: %v", invalid.GetFlag().Name, invalid.Unwrap())
	}
	var bare *pflag.ValueRequiredError
	if errors.As(err, &bare) {
		_, usage := pflag.UnquoteUsage(bare.GetFlag())
		return errkind.Userf("--%s needs a value: %s", bare.GetFlag().Name, usage)
	}
	return errkind.WithHint(errkind.Userf("%v", err), "`%s --help` lists the flags", cmd.CommandPath())
}
