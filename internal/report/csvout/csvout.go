// Package csvout writes a result as CSV (RFC 4180), one row for each cell and metric. docs/JSON.md describes
// the columns; the document that package jsonout builds is where the values come from.
package csvout

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/jsonout"
)

// Header names the columns in their order: those of the cell, then those of the metric.
var Header = []string{
	"run", "started", "run_status", "accelerator", "stack", "workload", "baseline", "status", "reason", "rounds",
	"durability", "ram_share",
	"metric", "unit", "better", "headline", "value", "low", "high", "ratio", "ratio_low", "ratio_high", "differs", "warnings", "scale",
}

// Write writes the header and, for every cell, one row for each of record.MetricNames and one for each metric of syncs
// or of the evidence that the cell has, with CRLF line ends. A number that does not exist is an empty field.
func Write(w io.Writer, r analyse.Result) error {
	doc := jsonout.Build(r)
	headline := map[string]string{}
	for _, l := range doc.Workloads {
		headline[l.Name] = l.Headline
	}
	out := csv.NewWriter(w)
	out.UseCRLF = true
	if err := out.Write(Header); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	run := []string{doc.Run.ID, doc.Run.Started.Format(time.RFC3339), doc.Run.Status, doc.Host.Accelerator}
	for _, c := range doc.Cells {
		for _, name := range named(c) {
			if err := out.Write(append(row(run, c, name, doc.Metrics[name], headline[c.Workload] == name), doc.Run.Scale)); err != nil {
				return fmt.Errorf("write CSV: %w", err)
			}
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}

// named lists the metrics of a cell: those of every cell, and what others it has.
func named(c jsonout.Cell) []string {
	names := slices.Clone(record.MetricNames)
	for _, name := range slices.Concat(record.SyncNames, record.DerivedNames) {
		_, synced := c.Metrics[name]
		_, derived := c.Derived[name]
		if synced || derived {
			names = append(names, name)
		}
	}
	return names
}

func row(run []string, c jsonout.Cell, name string, m jsonout.Metric, headline bool) []string {
	out := append([]string{}, run...)
	out = append(out, c.Stack, c.Workload, strconv.FormatBool(c.Baseline), c.Status, oneLine(c.Reason),
		strconv.Itoa(c.Rounds), c.Durability, number(c.RAMShare))
	out = append(out, name, m.Unit, m.Better, strconv.FormatBool(headline))
	values := c.Metrics
	if _, derived := c.Derived[name]; derived {
		values = c.Derived
	}
	out = append(out, estimate(values, name)...)
	out = append(out, estimate(c.Ratio, name)...)
	differs := ""
	if headline && len(c.Ratio) > 0 {
		differs = strconv.FormatBool(c.Differs)
	}
	return append(out, differs, oneLine(strings.Join(c.Warnings, "; ")))
}

func estimate(all map[string]jsonout.Estimate, name string) []string {
	e, ok := all[name]
	if !ok {
		return []string{"", "", ""}
	}
	return []string{number(&e.Value), number(e.Low), number(e.High)}
}

// number never uses an exponent: not every reader of CSV knows it.
func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

// oneLine keeps each row on one line, for tools that read line by line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
