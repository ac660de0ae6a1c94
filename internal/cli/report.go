package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/benchstat"
	"github.com/iotax/iotax/internal/report/csvout"
	"github.com/iotax/iotax/internal/report/html"
	"github.com/iotax/iotax/internal/report/jsonout"
	"github.com/iotax/iotax/internal/report/text"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/store"
)

func (a *app) reportCmd() *cobra.Command {
	var format, file string
	var limit *analyse.Limit
	cmd := &cobra.Command{
		Use:   "report [RUN]",
		Short: "Print the report of a stored run",
		Long: `report analyses the windows of a stored run anew and prints the result: as the table of iotax run, as JSON (the
contract of docs/JSON.md), as CSV with one line per cell and metric, as one self-contained HTML file, or round by round
as lines of a Go benchmark, for benchstat.

RUN is the id of a run or its first letters; without it, the newest run.`,
		Example: `  # the newest run again
  iotax report

  # one self-contained file to pass on
  iotax report 7k2f --format html -o report.html

  # for a spreadsheet
  iotax report --format csv -o cells.csv

  # for benchstat: benchstat -col /stack -row /workload rounds.txt
  iotax report --format benchstat -o rounds.txt`,
		Args:              atMost(1, "RUN"),
		ValidArgsFunction: a.completeRun,
		RunE: func(_ *cobra.Command, args []string) error {
			if file == "-" && format == "html" && a.IsTerminal(a.Stdout) {
				return errkind.Userf("an HTML report is for a file: add -o FILE")
			}
			if limit != nil && (format == "csv" || format == "benchstat") {
				return errkind.WithHint(errkind.Userf("--sla is for --format text, json and html"), "--format %s has every iodepth that was measured, whatever its latency", format)
			}
			return a.readStore(func(s *store.Store) error {
				result, err := stored(s, append(args, "")[0])
				if err != nil {
					return err
				}
				if limit != nil {
					result.Limit(*limit)
				}
				return a.output(a.file(file), a.renderer(format, result))
			})
		},
	}
	enumFlag(cmd, &format, "format", "what to print", "text", "json", "html", "csv", "benchstat")
	cmd.Flags().StringVarP(&file, "output", "o", "-", "write to `FILE` instead of standard output")
	limitFlag(cmd, &limit)
	return cmd
}

// stored analyses a stored run, named as store.Run has it.
func stored(s *store.Store, id string) (analyse.Result, error) {
	run, experiment, windows, err := load(s, id)
	if err != nil {
		return analyse.Result{}, err
	}
	return analyse.Analyse(run, experiment, windows), nil
}

// load reads a run with its windows, named as store.Run has it.
func load(s *store.Store, id string) (record.Run, spec.Experiment, []record.Window, error) {
	run, err := s.Run(id)
	if err != nil {
		return run, spec.Experiment{}, nil, err
	}
	experiment, err := s.Experiment(run.ID)
	if err != nil {
		return run, experiment, nil, err
	}
	windows, err := s.Windows(run.ID, false)
	return run, experiment, windows, err
}

// renderer writes a result in one of the formats of report.
func (a *app) renderer(format string, r analyse.Result) func(io.Writer) error {
	return func(w io.Writer) error {
		switch format {
		case "json":
			return jsonout.Write(w, r)
		case "html":
			return html.Write(w, r)
		case "csv":
			return csvout.Write(w, r)
		case "benchstat":
			return benchstat.Write(w, r)
		}
		return text.Write(w, r, a.textOptions())
	}
}

// textOptions fit standard output: colour only on a terminal whose owner did not forbid it (no-color.org).
func (a *app) textOptions() text.Options {
	color := a.IsTerminal(a.Stdout) && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
	return text.Options{Width: a.Width(a.Stdout), Color: color}
}
