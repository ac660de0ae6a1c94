package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/iotax/iotax/internal/emit"
	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/store"
	"github.com/iotax/iotax/internal/unit"
)

// emitOptions is what `iotax emit` was asked.
type emitOptions struct {
	run, preset, spec  string // where the stack is from; none: the newest run
	as, part, format   string
	disk, accel, place string // place: where to write
	size               int64
}

func (a *app) emitCmd() *cobra.Command {
	var o emitOptions
	cmd := &cobra.Command{
		Use:   "emit STACK",
		Short: "Write a measured stack as a configuration to be pasted",
		Long: `emit writes what somebody pastes to have the disk that was measured: a domain of libvirt, the lines of a
Proxmox VE machine and the qm command that sets them, the arguments of QEMU, or an xl.cfg. The machine around the disk
is the one that was measured too, without the pinning of its threads: CPUs are a host's own. --part disk leaves it out.

STACK is a stack of the newest stored run, or of the run, preset or experiment file that a flag names. Commands that
make the image or the volume as it was measured stand before the configuration, as comments. What the reader must know
goes to standard error, a line each. Where the language cannot say the stack, so that the disk would be another than the
one that was measured, emit says why and writes nothing.`,
		Example: `  # a stack of the newest run as a domain of libvirt
  iotax emit virtio-blk --disk /var/lib/libvirt/images/vm.raw -o vm.xml

  # only the disk, in a machine that is there
  iotax emit proxmox-default --preset default --as proxmox --part disk --disk local:104/vm-104-disk-0.raw

  # the arguments of QEMU, one by one, for a script
  iotax emit virtio-blk --preset quick --as qemu --disk /srv/vm.img --format json`,
		Args:              exactlyStack,
		ValidArgsFunction: a.completeStack,
		RunE:              func(_ *cobra.Command, args []string) error { return a.emit(args[0], o) },
	}
	f := cmd.Flags()
	enumFlag(cmd, &o.as, "as", "in whose language", emit.Languages...)
	f.StringVar(&o.run, "run", "", "a stack of the stored run `ID`, or its first letters")
	f.StringVar(&o.preset, "preset", "", "a stack of the preset `NAME`")
	f.StringVar(&o.spec, "spec", "", "a stack of the experiment `FILE`")
	enumFlag(cmd, &o.part, "part", "the machine, or the disk alone with its controller and iothreads", "machine", "disk")
	f.StringVar(&o.disk, "disk", "", "the disk's `PATH`, or a volume of Proxmox VE")
	parsedFlag(cmd, &o.size, unit.ParseBytes, "size", "`SIZE` of the disk in the commands that make it; as measured")
	enumFlag(cmd, &o.accel, "accel", "the machine's accelerator; the run's, and kvm where there was none", "auto", "kvm", "tcg")
	enumFlag(cmd, &o.format, "format", "the configuration, or JSON with its parts", "text", "json")
	f.StringVarP(&o.place, "output", "o", "-", "write to `FILE` instead of standard output")
	complete(cmd, "preset", presetNames)
	return cmd
}

func exactlyStack(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errkind.WithHint(errkind.Userf("%s takes the name of one stack, got %d names", cmd.CommandPath(), len(args)),
			"`iotax presets default` lists those of a preset")
	}
	return nil
}

// emit writes the configuration of a stack.
func (a *app) emit(name string, o emitOptions) error {
	given := 0
	for _, from := range []string{o.run, o.preset, o.spec} {
		if from != "" {
			given++
		}
	}
	if given > 1 {
		return errkind.Userf("--run, --preset and --spec each name where the stack is from: leave all but one out")
	}
	e, run, err := a.emitted(o)
	if err != nil {
		return err
	}
	c, err := configure(e, run, name, o)
	if err != nil {
		return err
	}
	c.Notes = append(c.Notes, unmeasured(run, name)...)
	if o.format == "json" {
		return a.output(a.file(o.place), func(w io.Writer) error { return emit.WriteJSON(w, Version(), c) })
	}
	text, rest := c.Commented()
	for _, line := range slices.Concat(c.Notes, rest) {
		fmt.Fprintf(a.Stderr, "note: %s\n", line)
	}
	return a.output(a.file(o.place), func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// emitted returns the experiment that has the stack, and the run that measured it; a run without an ID for a preset or file.
func (a *app) emitted(o emitOptions) (e spec.Experiment, run record.Run, err error) {
	switch {
	case o.preset != "":
		e, err = spec.Preset(o.preset)
	case o.spec != "":
		var data []byte
		if data, err = os.ReadFile(a.Abs(o.spec)); err != nil {
			return e, run, errkind.Userf("%w", err)
		}
		e, err = spec.Parse(filepath.Base(o.spec), data)
	default:
		err = a.readStore(func(s *store.Store) (err error) {
			if run, err = s.Run(o.run); err == nil {
				e, err = s.Experiment(run.ID)
			}
			return err
		})
	}
	return e, run, err
}

// configure finds the stack in its experiment and the machine that the plan gives it, and writes it.
func configure(e spec.Experiment, run record.Run, name string, o emitOptions) (emit.Config, error) {
	var names []string
	for _, s := range e.Stacks {
		names = append(names, s.Name)
	}
	i := slices.Index(names, name)
	switch {
	case name == spec.Host || name == spec.Control:
		return emit.Config{}, errkind.Userf("%s is the host's own disk, without a virtual machine", name)
	case i < 0 && run.ID != "":
		return emit.Config{}, noSuch("stack", name, run.ID, names)
	case i < 0:
		return emit.Config{}, errkind.Userf("experiment %s has no stack %q; %s", e.Name, name, perhaps(name, names))
	}
	s := e.Stacks[i]
	p, err := plan.Make(e, run.Seed)
	if err != nil {
		return emit.Config{}, err
	}
	opts := emit.Options{Path: o.disk, Size: e.Size, Guest: e.GuestOf(s), Accel: o.accel, DiskOnly: o.part == "disk"}
	for _, g := range p.Groups {
		if slices.ContainsFunc(g.Stacks, func(s spec.Stack) bool { return s.Name == name }) && slices.Contains(spec.Machines, g.Machine) {
			opts.Machine = g.Machine
		}
	}
	if o.size > 0 {
		opts.Size = o.size
	}
	if opts.Accel == "auto" {
		opts.Accel = "kvm"
		if run.Host.Accelerator == "tcg" {
			opts.Accel = "tcg"
		}
	}
	return emit.Make(o.as, s, opts)
}

// unmeasured says why a run has no figures of the stack that can be relied on.
func unmeasured(run record.Run, stack string) (lines []string) {
	for _, s := range run.Stacks {
		if s.Name != stack {
			continue
		}
		if s.Unavailable != "" {
			lines = append(lines, fmt.Sprintf("run %s could not measure it: %s", run.ID, s.Unavailable))
		}
		for _, m := range s.Mismatch {
			lines = append(lines, fmt.Sprintf("run %s did not have it as it was meant: %s", run.ID, m))
		}
	}
	return lines
}

// completeStack lets the shell complete the stacks of the run, preset or file that the flags before name.
func (a *app) completeStack(cmd *cobra.Command, args []string, _ string) (names []string, how cobra.ShellCompDirective) {
	how = cobra.ShellCompDirectiveNoFileComp
	value := func(flag string) string { return cmd.Flags().Lookup(flag).Value.String() }
	if len(args) > 0 {
		return nil, how
	}
	e, _, err := a.emitted(emitOptions{run: value("run"), preset: value("preset"), spec: value("spec")})
	if err != nil {
		return nil, how // nothing to offer, and the shell is no place for a message
	}
	for _, s := range e.Stacks {
		names = append(names, s.Name+"\t"+s.Title)
	}
	return names, how
}
