// Package agent is what runs as PID 1 inside the guest: it answers the host over a virtio-serial port or
// a console, loads modules, names the disks by their serial, and runs the load generator.
package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/wire"
)

// Serve answers requests from port, one at a time and in order, until the host closes it.
// Signs of life go out in between, so that a silent guest is a dead one.
func Serve(ctx context.Context, port io.ReadWriter) error {
	s := &server{port: port}
	if err := s.hello(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go s.beat(ctx)
	for {
		m, err := wire.Read(port)
		if err != nil {
			return err
		}
		go s.answer(ctx, m) // so that one that stands still can be asked about; a broken port ends the reading too
	}
}

type server struct {
	mu   sync.Mutex // of port's writing side
	port io.ReadWriter
}

func (s *server) send(m wire.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return wire.Write(s.port, m)
}

func (s *server) event(op string, body any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return s.send(wire.Message{Op: op, Body: raw})
}

func (s *server) hello() error {
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		return err
	}
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return err
	}
	cpus, err := onlineCPUs()
	if err != nil {
		return err
	}
	return s.event(wire.OpHello, wire.Hello{
		Release: unix.ByteSliceToString(uts.Release[:]),
		CPUs:    cpus,
		Memory:  int64(info.Totalram) * int64(info.Unit),
		Uptime:  monotonic(),
	})
}

func (s *server) beat(ctx context.Context) {
	tick := time.NewTicker(wire.Beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if s.event(wire.OpBeat, nil) != nil {
				return
			}
		}
	}
}

// answer runs one request. What it did wrong goes to the host.
func (s *server) answer(ctx context.Context, m wire.Message) {
	body, err := do(ctx, m)
	reply := wire.Message{ID: m.ID}
	if err == nil {
		reply.Body, err = json.Marshal(body)
	}
	if err != nil {
		reply.Body, reply.Error = nil, err.Error()
	}
	_ = s.send(reply) // there is nobody else to tell
}

func do(ctx context.Context, m wire.Message) (any, error) {
	switch m.Op {
	case wire.OpLoad:
		return with(m, func(q wire.Load) (any, error) {
			defer pciBus("/sys/bus/pci").probeAll()
			return nil, loadModules(q)
		})
	case wire.OpDisks:
		return disks("/sys/block")
	case wire.OpTune:
		return with(m, func(q wire.Tune) (any, error) { return nil, tune("/sys/block", q) })
	case wire.OpWindow:
		return with(m, func(q load.Request) (load.Result, error) {
			if err := dropCache(q.Disk); err != nil {
				return load.Result{}, err
			}
			return load.Run(ctx, q)
		})
	case wire.OpDiscard:
		return with(m, func(q load.Discard) (any, error) { return nil, q.Do() })
	case wire.OpProbe:
		return with(m, load.Probe.Sync)
	case wire.OpWrite:
		return with(m, func(f wire.File) (any, error) { return nil, os.WriteFile(f.Path, []byte(f.Data), 0o644) })
	case wire.OpRead:
		return with(m, func(f wire.File) (wire.File, error) {
			data, err := os.ReadFile(f.Path)
			return wire.File{Path: f.Path, Data: string(data)}, err
		})
	case wire.OpClock:
		return wire.Clock{Monotonic: monotonic()}, nil
	case wire.OpPowerOff:
		return nil, powerOffSoon()
	}
	return nil, fmt.Errorf("unknown operation %q", m.Op)
}

// with decodes the body of a message for the function that answers it.
func with[Q, A any](m wire.Message, f func(Q) (A, error)) (any, error) {
	var q Q
	if err := json.Unmarshal(m.Body, &q); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Op, err)
	}
	return f(q)
}

func monotonic() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

func onlineCPUs() (int, error) {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return 0, err
	}
	return bytes.Count(data, []byte("processor\t:")), nil
}

func read(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
