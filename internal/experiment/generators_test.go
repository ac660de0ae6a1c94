package experiment

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
)

// programs answers for programs: by the first word of their command line, what they print or why they fail.
type programs struct {
	says   map[string]string
	fails  map[string]string
	asked  []string
	absent bool
}

func (p *programs) Run(_ context.Context, c sys.Command) ([]byte, error) {
	p.asked = append(p.asked, strings.Join(c.Argv, " "))
	if said, ok := p.fails[c.Argv[0]]; ok {
		return nil, &sys.CommandError{Argv: c.Argv, Stderr: said, Err: errors.New("exit status 1")}
	}
	return []byte(p.says[c.Argv[0]]), nil
}

func (p *programs) LookPath(name string) (string, error) {
	if p.absent {
		return "", errors.New("it is not here")
	}
	return "/usr/bin/" + name, nil
}

const benchSays = "Sending 4 read requests, 4096 bytes each, 1 in parallel (starting at offset 0, step size 4096)\nRun completed in 0.001 seconds.\n"

func TestGeneratorLacks(t *testing.T) {
	bench := spec.Stack{Name: "bench", Bus: "host", Daemon: "qemu-img", Format: "raw", Cache: "none", AIO: "io_uring", Discard: "ignore", DetectZeroes: "off"}
	nbd := spec.Stack{Name: "nbd", Bus: "host", Protocol: "nbd", Format: "raw", Cache: "none", AIO: "threads"}
	for name, tt := range map[string]struct {
		stack        spec.Stack
		says         *programs
		reason, mend string
	}{
		"a guest":      {spec.Stack{Bus: "virtio-blk"}, &programs{absent: true}, "", ""},
		"plain":        {spec.Stack{Bus: "host"}, &programs{absent: true}, "", ""},
		"bench":        {bench, &programs{says: map[string]string{"qi": benchSays}}, "", ""},
		"no qemu-img":  {bench, &programs{absent: true}, "qemu-img is missing", "qemu-img"},
		"no io_uring":  {bench, &programs{fails: map[string]string{"qi": "qi: Could not open: aio=io_uring was specified, but is not supported"}}, "qemu-img refuses: Could not open: aio=io_uring", "io_uring_disabled"},
		"nbd":          {nbd, &programs{says: map[string]string{"fio": "uri      : Name of NBD URI"}}, "", ""},
		"no engine":    {nbd, &programs{fails: map[string]string{"fio": "fio: engine nbd not loadable"}}, "fio has no engine nbd", "fio-engine-nbd"},
		"no such help": {nbd, &programs{says: map[string]string{"fio": "IO engine nbd not found"}}, "fio has no engine nbd", "package fio"},
	} {
		v := generators{run: tt.says, fio: "fio", qemuImg: "qi"}
		for range 2 { // the second time from memory
			reason, mend := v.lacks(t.Context(), tt.stack, spec.Guest{})
			if !strings.Contains(reason, tt.reason) || !strings.Contains(mend, tt.mend) || (reason == "") != (tt.reason == "") || (mend == "") != (tt.mend == "") {
				t.Errorf("%s: %q, %q; want %q, %q", name, reason, mend, tt.reason, tt.mend)
			}
		}
		if len(tt.says.asked) > 1 {
			t.Errorf("%s: asked %d times: %q", name, len(tt.says.asked), tt.says.asked)
		}
	}
}
