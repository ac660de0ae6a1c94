// Package cli is the command line: one file per command, flags checked before anything is done, and errors
// written for the person who reads them.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/sys"
)

// Main runs one command line in w and returns the exit code. Output and errors have been written by then.
func Main(ctx context.Context, w sys.World) int {
	return newApp(w).main(ctx)
}

// app is one command line: the world it runs in, and the doers that a test replaces because they need QEMU.
type app struct {
	sys.World
	measure func(ctx context.Context, o runOptions) error    // iotax run
	examine func(ctx context.Context, o doctorOptions) error // iotax doctor
	tidy    func(ctx context.Context) error                  // iotax clean
}

func newApp(w sys.World) *app {
	a := &app{World: w}
	a.measure, a.examine, a.tidy = a.runMeasure, a.runDoctor, a.runClean
	return a
}

func (a *app) main(ctx context.Context) (code int) {
	defer func() {
		if p := recover(); p != nil { // Go would exit with 2, which here means a fault of the user
			fmt.Fprintf(a.Stderr, "iotax: panic: %v\n\n%s\n", p, debug.Stack())
			code = int(errkind.Bug)
		}
	}()
	err := a.root().ExecuteContext(ctx)
	code = int(exitCode(ctx, err))
	explain(a.Stderr, errkind.Code(code), err)
	return code
}

// adopt gives cobra our world instead of the real one.
func (a *app) adopt(root *cobra.Command) {
	root.SetArgs(a.Args)
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
}

// exitCode is the code that err asks for. What fails without a code of its own after a signal
// fails because of it, whatever it says; a reader of our output that went away counts as a signal.
func exitCode(ctx context.Context, err error) errkind.Code {
	code := errkind.CodeOf(err)
	if code != errkind.Bug {
		return code
	}
	if ctx.Err() != nil || errors.Is(err, syscall.EPIPE) {
		return errkind.Interrupted
	}
	return errkind.Bug
}

// explain writes an error for its reader: a fault of the user bare, a fault of ours whole.
func explain(w io.Writer, code errkind.Code, err error) {
	var faults errkind.List
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
	case code == errkind.Bug:
		fmt.Fprintf(w, "iotax: %v\n", err)
	case code == errkind.Usage && errors.As(err, &faults) && len(faults) > 1:
		fmt.Fprintf(w, "%v\n%d faults, nothing was touched.\n", err, len(faults))
	case code == errkind.Interrupted && errors.Is(err, context.Canceled):
		fmt.Fprintln(w, "interrupted")
	default:
		fmt.Fprintln(w, err)
	}
}
