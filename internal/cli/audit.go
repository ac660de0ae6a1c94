package cli

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/audit"
	"github.com/iotax/iotax/internal/audit/facts"
	"github.com/iotax/iotax/internal/audit/outcome"
	"github.com/iotax/iotax/internal/audit/price"
	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/auditjson"
	"github.com/iotax/iotax/internal/report/audittext"
	"github.com/iotax/iotax/internal/report/sarif"
	"github.com/iotax/iotax/internal/store"
	"github.com/iotax/iotax/internal/vmconf/read"
)

// auditOptions is what `iotax audit` was asked.
type auditOptions struct {
	failOn  audit.Severity // 0 = none
	only    []string       // IDs of rules, as the catalogue writes them, and so below
	skip    []string
	format  string
	file    string
	run     string
	verbose bool
}

func (a *app) auditCmd() *cobra.Command {
	o := auditOptions{failOn: audit.LargeLoss}
	cmd := &cobra.Command{
		Use:   "audit TARGET...",
		Short: "Find disk settings of VMs that cost performance or risk data",
		Long: `audit reads configurations of virtual machines and says which disk settings cost performance or put data at risk,
what each costs on this host where a run has measured it, and the exact change that mends it. It changes nothing.

A TARGET is a file or a folder with all that is below it: libvirt's domain XML, live status or a stream of several; a
VM of Proxmox VE, with its snapshots and pending changes, and the storage.cfg beside it; a command line of QEMU, as a
shell script, as arguments or from /proc/PID/cmdline; an xl.cfg of Xen. The kind is told by what is in the file. A
setting that is not written counts as what the program that reads it makes of it. Snapshots and pending changes are
read and not judged.

Disks that are on this host are looked at as well: the image, the volume, the file system and the devices under them.

The exit code is 4 when something is found that is at least as bad as --fail-on, 2 when a target could not be read: the
others are audited all the same.`,
		Example: `  iotax audit db01.xml

  # everything in a folder, for a service that takes SARIF
  iotax audit qemu-server --format sarif -o audit.sarif

  # fail only where data is at risk, and leave two rules out
  iotax audit db01.xml --fail-on data-at-risk --skip IOT016,IOT019`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errkind.Userf("audit needs a TARGET: a configuration of a virtual machine, or a folder of them; such as `iotax audit /etc/libvirt/qemu`")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.audit(cmd.Context(), args, o) },
	}
	enumFlag(cmd, &o.format, "format", "what to print", "text", "json", "sarif")
	parsedFlag(cmd, &o.failOn, parseFailOn, "fail-on", "exit with 4 when something this bad or worse is found: `SEVERITY` is one of "+
		strings.Join(failOnWords(), ", ")+" (default large-loss)")
	complete(cmd, "fail-on", failOnWords)
	parsedFlag(cmd, &o.only, parseRules, "only", "use only these rules, such as `IOT001,IOT004`")
	parsedFlag(cmd, &o.skip, parseRules, "skip", "leave these rules out, such as `IOT001,IOT004`")
	complete(cmd, "only", ruleIDs)
	complete(cmd, "skip", ruleIDs)
	cmd.Flags().StringVar(&o.run, "run", "", "take prices from the stored run `ID` instead of the newest complete one")
	cmd.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "say more of each finding, and all that was not understood")
	cmd.Flags().StringVarP(&o.file, "output", "o", "-", "write to `FILE` instead of standard output")
	return cmd
}

// audit reads the targets, judges what is in them and reports it. What could not be read is said at the end.
func (a *app) audit(ctx context.Context, targets []string, o auditOptions) error {
	prices, err := a.pricesFrom(o.run)
	if err != nil {
		return err
	}
	found, faults := a.readTargets(targets)
	host := facts.Source{Run: a.Runner}
	machines := found.Machines()
	volumes := host.Volumes(ctx, machines)
	findings := slices.DeleteFunc(audit.Audit(machines, host.Host(ctx), volumes), func(f audit.Finding) bool {
		return len(o.only) > 0 && !slices.Contains(o.only, f.Rule) || slices.Contains(o.skip, f.Rule)
	})
	if prices != nil {
		found.Run = prices.Run.ID
		price.Tag(findings, machines, volumes, *prices)
	}
	found.Add(findings)
	if err := ctx.Err(); err != nil { // what a program that was stopped did not tell would be missing
		return err
	}
	if err := a.output(a.file(o.file), func(w io.Writer) error { return a.writeAudit(w, found, o) }); err != nil {
		return err
	}
	if len(faults) > 0 {
		return faults
	}
	return o.verdict(findings)
}

// readTargets reads all that can be read; the faults are those of the rest.
func (a *app) readTargets(targets []string) (*outcome.Outcome, errkind.List) {
	paths := make([]string, len(targets))
	for i, t := range targets {
		paths[i] = a.Abs(t)
	}
	result, err := read.Targets(paths)
	var sources []outcome.Source
	for _, f := range result.Found {
		sources = append(sources, outcome.Source{Name: f.Path, Kind: f.Kind, Doc: f.Doc})
	}
	o := outcome.New(a.Dir, sources)
	o.Version = Version()
	for _, s := range result.Storages {
		o.Storages = append(o.Storages, outcome.Relative(a.Dir, s))
	}
	for _, s := range result.Skipped {
		o.Skipped = append(o.Skipped, outcome.Skipped{Name: outcome.Relative(a.Dir, s.Path), Why: s.Why})
	}
	for _, u := range result.Unknown {
		u.At.File = outcome.Relative(a.Dir, u.At.File)
		o.Unknown = append(o.Unknown, u)
	}
	faults := faultsOf(err, a.Dir)
	for _, f := range faults {
		o.Faults = append(o.Faults, f.Error())
	}
	return o, faults
}

// faultsOf lists the faults of targets, each beginning with the name of a file as the rest of the output has it.
func faultsOf(err error, dir string) (faults errkind.List) {
	var list errkind.List
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &list):
		list = errkind.List{err}
	}
	for _, f := range list {
		faults = append(faults, errkind.New(errkind.CodeOf(f), "%s", outcome.Relative(dir, f.Error())))
	}
	return faults
}

func (a *app) writeAudit(w io.Writer, found *outcome.Outcome, o auditOptions) error {
	switch o.format {
	case "json":
		return auditjson.Write(w, found)
	case "sarif":
		return sarif.Write(w, found)
	}
	return audittext.Write(w, found, audittext.Options{Options: a.textOptions(), Verbose: o.verbose})
}

// verdict is the error that gives exit code 4.
func (o auditOptions) verdict(findings []audit.Finding) error {
	bad := 0
	for _, f := range findings {
		if o.failOn > 0 && f.Severity >= o.failOn {
			bad++
		}
	}
	if bad == 0 {
		return nil
	}
	return errkind.New(errkind.Findings, "%s at or above %q", count(bad, "finding"), o.failOn)
}

// pricesFrom analyses the run that prices are taken from: the one that is named, else the newest complete one. It is nil where
// none is stored.
func (a *app) pricesFrom(id string) (*analyse.Result, error) {
	if id == "" {
		runs, err := a.storedRuns()
		if err != nil && errkind.CodeOf(err) != errkind.Usage { // there may be no store at all
			return nil, err
		}
		i := slices.IndexFunc(runs, func(r record.Run) bool { return r.Status == record.Complete })
		if i < 0 {
			return nil, nil
		}
		id = runs[i].ID
	}
	var result analyse.Result
	err := a.readStore(func(s *store.Store) error {
		run, experiment, windows, err := load(s, id)
		if err == nil {
			result = analyse.Estimates(run, experiment, windows) // prices are of IOPS and bandwidth
		}
		return err
	})
	return &result, err
}
