package inside

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/wire"
)

// serve brings the machine up and answers requests until the port is closed.
func serve() error {
	port, err := openPort(10 * time.Second)
	if err != nil {
		return err
	}
	defer port.Close()
	xen, err := comeUp()
	if err != nil {
		return err
	}
	var clock unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &clock); err != nil {
		return err
	}
	return Serve(port, Hello{Xen: xen, Uptime: time.Duration(clock.Nano())})
}

// Serve says hello and answers requests, each in a goroutine of its own, until the port is closed.
func Serve(port io.ReadWriter, h Hello) error {
	s := &server{port: port}
	if err := s.send(0, OpHello, h); err != nil {
		return err
	}
	for {
		m, err := wire.Read(port)
		if err != nil {
			return err
		}
		go s.answer(m)
	}
}

// openPort waits for the port to appear and opens it.
func openPort(patience time.Duration) (*os.File, error) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		names, _ := filepath.Glob("/sys/class/virtio-ports/*/name")
		for _, path := range names {
			name, err := os.ReadFile(path)
			if err != nil || strings.TrimSpace(string(name)) != PortName {
				continue
			}
			if f, err := os.OpenFile("/dev/"+filepath.Base(filepath.Dir(path)), os.O_RDWR, 0); err == nil {
				return f, nil
			}
		}
	}
	return nil, fmt.Errorf("no virtio-serial port named %s after %v", PortName, patience)
}

type server struct {
	mu   sync.Mutex // of port's writing side
	port io.ReadWriter
}

func (s *server) send(id uint64, op string, body any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return s.write(wire.Message{ID: id, Op: op, Body: raw})
}

func (s *server) write(m wire.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return wire.Write(s.port, m)
}

// answer does what a message asks for. A port that is broken ends the machine where it is read.
func (s *server) answer(m wire.Message) {
	var result any
	var err error
	switch m.Op {
	case OpMount:
		var q Mount
		if err = json.Unmarshal(m.Body, &q); err == nil {
			err = q.mount()
		}
	case OpRun:
		var q Command
		if err = json.Unmarshal(m.Body, &q); err == nil {
			result, err = s.run(m.ID, q)
		}
	default:
		err = fmt.Errorf("unknown operation %q", m.Op)
	}
	if err != nil {
		_ = s.write(wire.Message{ID: m.ID, Error: err.Error()})
		return
	}
	_ = s.send(m.ID, "", result)
}

func (q Mount) mount() error {
	if err := os.MkdirAll(q.Path, 0o755); err != nil {
		return err
	}
	var flags uintptr
	if q.ReadOnly {
		flags = unix.MS_RDONLY
	}
	// Programs can be run from the folder only with a cache, which their pages are mapped from.
	options := "trans=virtio,version=9p2000.L,msize=524288,cache=mmap"
	if err := unix.Mount(q.Tag, q.Path, "9p", flags, options); err != nil {
		return fmt.Errorf("mount %s: %w", q.Path, err)
	}
	return nil
}

func (s *server) run(id uint64, q Command) (Exit, error) {
	if len(q.Argv) == 0 {
		return Exit{}, errors.New("no command")
	}
	cmd := exec.Command(q.Argv[0], q.Argv[1:]...)
	cmd.Dir, cmd.Env = q.Dir, slices.Concat(Environment, q.Env) // the server's own has what makes it the server
	cmd.Stdout, cmd.Stderr = &output{s, id, false}, &output{s, id, true}
	cmd.WaitDelay = 2 * time.Second // a daemon that keeps the pipes does not keep us
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		if status := exit.Sys().(syscall.WaitStatus); status.Signaled() {
			return Exit{128 + int(status.Signal())}, nil
		}
		return Exit{exit.ExitCode()}, nil
	case errors.Is(err, exec.ErrWaitDelay):
		return Exit{}, nil
	}
	return Exit{}, err
}

// output sends what a command writes.
type output struct {
	s      *server
	id     uint64
	stderr bool
}

func (o *output) Write(p []byte) (int, error) {
	return len(p), o.s.send(o.id, OpOutput, Output{p, o.stderr})
}
