// Command iotax-calibrate shows whether the statistics of iotax keep what they promise, and records the noise that they are
// tried on:
//
//	go run ./internal/calibrate/iotax-calibrate [-seed N] [-live N] [-scratch DIR]
//	go run ./internal/calibrate/iotax-calibrate record [-scratch DIR] [-for TIME] [-into DIR]
//	go run ./internal/calibrate/iotax-calibrate extract -store FILE -run RUN -name NAME [-stacks A,B] [-into DIR]
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/iotax/iotax/internal/calibrate"
	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/store"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Stdout, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "iotax-calibrate:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, out io.Writer, args []string) error {
	if len(args) > 0 && args[0] == "record" {
		return recordTraces(ctx, out, args[1:])
	}
	if len(args) > 0 && args[0] == "extract" {
		return extract(out, args[1:])
	}
	return check(ctx, out, args)
}

// scratchSize is that of the scratch file, in bytes.
const scratchSize = 256 << 20

var errBroken = errors.New("a promise is not kept")

// check calibrates, and fails when a promise is not kept.
func check(ctx context.Context, out io.Writer, args []string) (err error) {
	flags := flag.NewFlagSet("iotax-calibrate", flag.ContinueOnError)
	seed := flags.Uint64("seed", 1, "decides all that is drawn")
	live := flags.Int("live", 0, "compare a file of this host with itself so many times, half a minute each")
	scratch := flags.String("scratch", ".", "folder for that file")
	if err := parse(flags, args); err != nil {
		return err
	}
	traces, err := calibrate.Traces()
	if err != nil {
		return err
	}
	report, err := calibrate.Run(traces, calibrate.Full, *seed)
	if err != nil {
		return err
	}
	if *live > 0 {
		row, err := liveRow(ctx, *scratch, *live, *seed)
		if err != nil {
			return err
		}
		report.Live = &row
	}
	if err := report.Write(out); err != nil {
		return err
	}
	if len(report.Broken()) > 0 {
		return errBroken
	}
	return nil
}

func liveRow(ctx context.Context, scratch string, n int, seed uint64) (row calibrate.Row, err error) {
	host, err := calibrate.OpenHost(scratch, scratchSize)
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, host.Close()) }()
	return host.Live(ctx, n, seed)
}

// recordTraces records the noise of this host.
func recordTraces(ctx context.Context, out io.Writer, args []string) (err error) {
	flags := flag.NewFlagSet("iotax-calibrate record", flag.ContinueOnError)
	scratch := flags.String("scratch", ".", "folder for a scratch file")
	each := flags.Duration("for", 100*time.Second, "time for each load")
	into := flags.String("into", "internal/calibrate/traces", "folder for the traces")
	if err := parse(flags, args); err != nil {
		return err
	}
	host, err := calibrate.OpenHost(*scratch, scratchSize)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.Close()) }()
	return host.Record(ctx, *each, uint64(time.Now().UnixNano()), func(t calibrate.Trace) error { return write(out, *into, t) })
}

// extract takes a trace out of the windows of a stored run.
func extract(out io.Writer, args []string) (err error) {
	flags := flag.NewFlagSet("iotax-calibrate extract", flag.ContinueOnError)
	file := flags.String("store", "", "store of iotax")
	id := flags.String("run", "", "run, the newest by default")
	name := flags.String("name", "", "name of the trace")
	stacks := flags.String("stacks", "", "stacks whose windows are taken, all by default")
	into := flags.String("into", "internal/calibrate/traces", "folder for the trace")
	if err := parse(flags, args); err != nil {
		return err
	}
	s, err := store.Open(*file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	run, err := s.Run(*id)
	if err != nil {
		return err
	}
	windows, err := s.Windows(run.ID, false)
	if err != nil {
		return err
	}
	var only []string
	if *stacks != "" {
		only = strings.Split(*stacks, ",")
	}
	return write(out, *into, calibrate.Extract(*name, only, windows))
}

func parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return errkind.Userf("%s takes no arguments, got %q; -h lists its flags", flags.Name(), flags.Arg(0))
	}
	return nil
}

// write puts a trace into its file and says how long it is.
func write(out io.Writer, into string, t calibrate.Trace) error {
	var text bytes.Buffer
	if err := t.Write(&text); err != nil {
		return err
	}
	path := filepath.Join(into, t.Name+".csv")
	if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%s: %d windows\n", path, len(t.Points))
	return err
}
