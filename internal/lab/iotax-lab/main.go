// Command iotax-lab builds the lab, and runs one command in a lab of its own:
//
//	go run ./internal/lab/iotax-lab build
//	go run ./internal/lab/iotax-lab run [flags] -- COMMAND [ARGUMENT...]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/lab"
	"github.com/iotax/iotax/internal/lab/inside"
	"github.com/iotax/iotax/internal/unit"
)

func main() {
	inside.Main()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code, err := command(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "iotax-lab:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func command(ctx context.Context, args []string) (int, error) {
	switch {
	case len(args) == 1 && args[0] == "build":
		for _, part := range []lab.Part{lab.Host, lab.QEMU} {
			dir, err := lab.Build(ctx, part, os.Stderr)
			if err != nil {
				return 1, err
			}
			fmt.Println(dir)
		}
		return 0, nil
	case len(args) > 0 && args[0] == "run":
		return run(ctx, args[1:])
	}
	return 2, errkind.Userf("usage: iotax-lab build | iotax-lab run [flags] -- COMMAND [ARGUMENT...]; iotax-lab run -h lists the flags")
}

// options of `run`.
type options struct {
	lab.Config
	inside.Command
	console bool
	timeout time.Duration
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("iotax-lab run", flag.ContinueOnError)
	f.BoolVar(&o.Xen, "xen", false, "boot under Xen and run the command in dom0")
	memory := f.String("memory", "2GiB", "memory of the machine")
	f.IntVar(&o.CPUs, "cpus", lab.DefaultCPUs, "processors of the machine")
	disks := f.String("disks", "4GiB", "sizes of the scratch disks /dev/vdb, /dev/vdc and so on, separated by commas")
	f.Func("share", "DIR=PATH shows the folder DIR at PATH, DIR=PATH:ro read-only; may be repeated", func(s string) error {
		dir, path, ok := strings.Cut(s, "=")
		path, ro := strings.CutSuffix(path, ":ro")
		dir, err := filepath.Abs(dir)
		if !ok || err != nil || !filepath.IsAbs(path) {
			return errors.New("want DIR=/PATH or DIR=/PATH:ro")
		}
		o.Shares = append(o.Shares, lab.Share{Dir: dir, Path: path, ReadOnly: ro})
		return nil
	})
	f.Func("env", "NAME=VALUE is set for the command; may be repeated", func(s string) error {
		o.Env = append(o.Env, s)
		return nil
	})
	f.StringVar(&o.Dir, "dir", "", "folder in which the command starts")
	f.BoolVar(&o.console, "console", false, "show the machine's console on standard error")
	f.DurationVar(&o.timeout, "timeout", 15*time.Minute, "end the machine after this time")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.Memory, err = unit.ParseBytes(*memory); err != nil {
		return o, errkind.Userf("-memory %s: %v", *memory, err)
	}
	for size := range strings.SplitSeq(*disks, ",") {
		if size == "" && *disks == "" {
			break // none
		}
		n, err := unit.ParseBytes(size)
		if err != nil {
			return o, errkind.Userf("-disks %s: %v", *disks, err)
		}
		o.Disks = append(o.Disks, n)
	}
	if o.Argv = f.Args(); len(o.Argv) == 0 {
		return o, errkind.Userf("no command to run in the lab")
	}
	return o, nil
}

func run(ctx context.Context, args []string) (int, error) {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return 0, nil
	} else if err != nil {
		return 2, err
	}
	dir, err := lab.Build(ctx, lab.Host, os.Stderr)
	if err != nil {
		return 1, err
	}
	if o.console {
		o.OnConsole = func(line string) { fmt.Fprintln(os.Stderr, line) }
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("not done within %v", o.timeout))
	defer cancel()
	m, err := lab.Start(ctx, dir, o.Config)
	if err != nil {
		return 1, err
	}
	code, err := m.Run(ctx, lab.Command{Command: o.Command, Stdout: os.Stdout, Stderr: os.Stderr})
	return code, errors.Join(err, m.Close())
}
