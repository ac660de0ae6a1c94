package experiment

import (
	"context"
	"os"
	"strings"

	"github.com/iotax/iotax/internal/hostenv"
	"github.com/iotax/iotax/internal/qemu/bench"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
)

// generators knows the programs that make the loads of stacks on the host.
type generators struct {
	run          sys.Runner
	fio, qemuImg string
	nbd          *[2]string            // why fio does not speak NBD, once it was asked
	tried        map[setting][2]string // what qemu-img bench can do
}

// setting is what decides whether qemu-img bench can make a stack's load.
type setting struct{ format, cache, aio, discard, detectZeroes string }

// lacks says why nothing here makes a stack's load on the host.
func (v *generators) lacks(ctx context.Context, s spec.Stack, _ spec.Guest) (reason, mend string) {
	switch {
	case s.Bench():
		return v.tryBench(ctx, s)
	case s.OnHost() && s.Protocol == "nbd":
		return v.askFio(ctx)
	}
	return "", ""
}

func (v *generators) tryBench(ctx context.Context, s spec.Stack) (reason, mend string) {
	if _, err := v.run.LookPath(v.qemuImg); err != nil {
		return "qemu-img is missing", hostenv.InstallCommand(v.run.LookPath, "qemu-img")
	}
	t := setting{s.Format, s.Cache, s.AIO, s.Discard, s.DetectZeroes}
	if known, ok := v.tried[t]; ok {
		return known[0], known[1]
	}
	reason, mend, err := bench.Supports(ctx, v.run, v.qemuImg, s, os.TempDir())
	if err != nil {
		return apart(err)
	}
	if v.tried == nil {
		v.tried = map[setting][2]string{}
	}
	v.tried[t] = [2]string{reason, mend}
	return reason, mend
}

// askFio asks whether fio has an engine for NBD: it is one of its optional ones, and some distributions pack it apart.
func (v *generators) askFio(ctx context.Context) (reason, mend string) {
	if v.nbd == nil {
		v.nbd = &[2]string{}
		out, err := v.run.Run(ctx, sys.Command{Argv: []string{v.fio, "--enghelp=nbd"}})
		if err != nil || !strings.Contains(string(out), "uri") {
			*v.nbd = [2]string{"fio has no engine nbd, which speaks to the export", "install a fio that has it (package fio on Debian and Ubuntu, fio-engine-nbd on Fedora)"}
		}
	}
	return v.nbd[0], v.nbd[1]
}
