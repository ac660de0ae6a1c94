package rig

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/qemu/qmp"
	"github.com/iotax/iotax/internal/spec"
)

// Server is a program that has a stack's volume open in QEMU's place and serves it to QEMU over NBD or vhost-user.
type Server interface {
	// Err says why it serves no more, nil while it does.
	Err() error
	// Pin puts its threads where the policy wants those of QEMU that run no guest code.
	Pin(ctx context.Context, p proc.Policy) error
	// Serving says how it has the volume open.
	Serving(ctx context.Context) (Serving, error)
	// Close ends it, after the guest has ended.
	Close() error
}

// placed is a server that chooses by itself where QEMU finds it.
type placed interface{ Socket() string }

// Serving is how a server has a volume open, in QEMU's words where it has words of its own.
type Serving struct {
	Args          []string          // what made it so: its command line, or the calls that it was sent
	Protocol, Top qmp.BlockNode     // what has the file or device open, and what is served; empty where there are no nodes
	Direct        *bool             // O_DIRECT on the open file, nil where it has none open
	IOThreads     int               // of its own that serve this disk's queues
	AIO           *proc.AIO         // of its process, nil where it has its own ways
	Fallbacks     []string          // lines in which it said that it gave up an aio
	Settings      map[string]string // what else there is to tell
}

// Serve starts the server of a disk for a guest. It is to listen at d.Socket, unless it chooses another place.
type Serve func(ctx context.Context, d cmdline.Disk, g spec.Guest) (Server, error)

// serve starts the servers of all disks that have one. A stack whose server does not start is left out.
func (s *session) serve(ctx context.Context) error {
	for _, in := range slices.Concat(s.intended, s.beside) { // which leaveOut replaces by copies
		if in.stack.Served() == "" {
			continue
		}
		if s.Serve == nil {
			s.leaveOut(in.stack, errors.New("nothing here starts "+in.stack.Served()))
			continue
		}
		server, err := s.Serve(ctx, in.disk, s.group.Guest)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			s.leaveOut(in.stack, err)
			continue
		}
		s.servers[in.stack.Name] = server
		if p, ok := server.(placed); ok {
			s.reach(in.stack.Name, p.Socket())
		}
	}
	return nil
}

// reach notes where the server of a stack's disk listens.
func (s *session) reach(stack, socket string) {
	for i := range s.intended {
		if s.intended[i].stack.Name == stack {
			s.intended[i].disk.Socket = socket
		}
	}
}

// socket is where a server listens for QEMU.
func (r *Rig) socket(d cmdline.Disk) string {
	if d.Stack.Served() == "" {
		return ""
	}
	return filepath.Join(r.Dir, d.Serial+".served")
}

// pinServers puts the servers beside QEMU's own threads.
func (s *session) pinServers(ctx context.Context) error {
	for name, server := range s.servers {
		if err := server.Pin(ctx, s.policy); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// closeServers ends them. QEMU must have ended before.
func (s *session) closeServers() error {
	var faults []error
	for name, server := range s.servers {
		faults = append(faults, server.Close())
		delete(s.servers, name)
	}
	return errors.Join(faults...)
}

// unserved is why a stack's server serves it no more, nil when it does or when the stack needs none.
func (s *session) unserved(stack string) error {
	if server, ok := s.servers[stack]; ok {
		return server.Err()
	}
	return nil
}

// deathGrace is how long a server whose disk has just failed may take to be seen to have ended.
const deathGrace = 300 * time.Millisecond

// deadServer is unserved after a load: one that went wrong may have noticed the end of the server before we did.
func (s *session) deadServer(stack string, wrong bool) error {
	for end := time.Now().Add(deathGrace); ; time.Sleep(10 * time.Millisecond) {
		err := s.unserved(stack)
		if _, served := s.servers[stack]; err != nil || !wrong || !served || time.Now().After(end) {
			return err
		}
	}
}

// firstLine leaves out what a program said at its end, and its command.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
