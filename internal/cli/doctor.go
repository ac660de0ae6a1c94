package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/iotax/iotax/internal/doctor"
	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/spec"
)

// doctorOptions is what `iotax doctor` was asked for.
type doctorOptions struct {
	JSON    bool
	Scratch string // absolute path, "" when not given
}

func (a *app) doctorCmd() *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this host can and cannot measure, and what mends it",
		Long: `doctor looks at this host and says what it can measure, what it cannot, why, and the command that mends it:
whether guests really start with KVM, which QEMU, fio and guest kernel would be used, which stacks this QEMU
offers, whether there is room for scratch volumes, and what makes figures of this host wander. To find out about
KVM it starts a small guest, for at most eight seconds, and remembers the answer. It changes nothing but its own
cache.

The exit code is 0 when the default experiment can be measured here, though perhaps not all of it, else 2.`,
		Example: `  iotax doctor

  # of the file system that holds the virtual machines
  iotax doctor --scratch /var/lib/libvirt/images

  # for a machine to read
  iotax doctor --json`,
		Args: atMost(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("scratch") && o.Scratch == "" {
				return errkind.Userf("--scratch is empty")
			}
			o.Scratch = a.Abs(o.Scratch)
			return a.examine(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print JSON (docs/JSON.md) instead of text")
	cmd.Flags().StringVar(&o.Scratch, "scratch", "", "judge the folder `DIR` for the scratch volumes")
	cobra.CheckErr(cmd.MarkFlagDirname("scratch"))
	return cmd
}

// runDoctor examines this host for the default experiment.
func (a *app) runDoctor(ctx context.Context, o doctorOptions) error {
	e, err := spec.Preset(defaultPreset)
	if err != nil {
		return err
	}
	return a.diagnose(ctx, o, doctor.Here(a.World, doctor.Options{
		Experiment: e, Scratch: o.Scratch, StoreFile: storeFile,
		Log: func(line string) { fmt.Fprintln(a.Stderr, line) },
	}))
}

// diagnose examines a host and says what was found.
func (a *app) diagnose(ctx context.Context, o doctorOptions, d doctor.Deps) error {
	findings := doctor.Examine(ctx, d)
	if ctx.Err() != nil { // what was found then says nothing
		return ctx.Err()
	}
	err := a.output("-", func(w io.Writer) error {
		if o.JSON {
			return doctor.WriteJSON(w, Version(), findings)
		}
		return writeFindings(w, findings, a.textOptions())
	})
	if err == nil {
		err = inTheWay(findings)
	}
	return err
}

// inTheWay is the fault of a host on which the default run cannot start, and names what keeps it from it.
func inTheWay(findings []doctor.Finding) error {
	var names []string
	for _, f := range findings {
		if f.Blocks {
			names = append(names, f.What)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return errkind.Userf("the default experiment cannot be measured here until this is mended: %s", strings.Join(names, ", "))
}
