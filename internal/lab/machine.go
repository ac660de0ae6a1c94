package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"

	"github.com/iotax/iotax/internal/lab/inside"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/qemu/qmp"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/wire"
)

// Machine is a running lab. It is safe for concurrent use.
type Machine struct {
	Hello inside.Hello

	temp *revert.Temp
	proc *proc.Process
	conn net.Conn

	write sync.Mutex
	mu    sync.Mutex
	next  uint64
	calls map[uint64]*call
	gone  chan struct{} // closed when nothing more can come from the machine
	err   error         // why, set before gone is closed
}

func newMachine(temp *revert.Temp) *Machine {
	return &Machine{temp: temp, calls: map[uint64]*call{}, gone: make(chan struct{})}
}

// call is a request under way. Its writers are used by the listening goroutine alone, until answer has the end.
type call struct {
	stdout, stderr io.Writer
	answer         chan wire.Message
}

// Command is a program to run in the machine. Writers that are nil drop what it says.
type Command struct {
	inside.Command
	Stdout, Stderr io.Writer
}

// Run runs a command to its end and returns its exit code, 128 + N when signal N killed it. An error means that it
// could not be run, that the machine went down under it, or that the context ended, which does not end the command:
// close the machine then.
func (m *Machine) Run(ctx context.Context, c Command) (int, error) {
	answer, err := m.call(ctx, inside.OpRun, c.Command, &call{stdout: c.Stdout, stderr: c.Stderr})
	if err != nil {
		return 0, m.explain(err)
	}
	var exit inside.Exit
	return exit.Code, json.Unmarshal(answer, &exit)
}

// Close ends the machine and removes its disks.
func (m *Machine) Close() error {
	var err error
	if m.conn != nil {
		m.end(errors.New("the lab was closed"))
	}
	if m.proc != nil {
		err = m.proc.Stop(nil)
	}
	return errors.Join(err, m.temp.Close())
}

// Console is the end of what the machine's console said.
func (m *Machine) Console() string { return m.proc.Console() }

// connect joins the server inside and waits for its first word.
func (m *Machine) connect(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() { // a QEMU that has ended never answers
		select {
		case <-m.proc.Done():
			cancel(m.proc.Err())
		case <-ctx.Done():
		}
	}()
	conn, err := qmp.DialSocket(ctx, portPath(m.temp.Dir))
	if err != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	m.conn = conn
	hello := make(chan inside.Hello, 1)
	go m.listen(hello)
	select {
	case m.Hello = <-hello:
		return nil
	case <-m.gone:
		return m.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (m *Machine) call(ctx context.Context, op string, in any, c *call) (json.RawMessage, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	if c == nil {
		c = &call{}
	}
	c.answer = make(chan wire.Message, 1)
	m.mu.Lock()
	m.next++
	id := m.next
	m.calls[id] = c
	m.mu.Unlock()
	m.write.Lock()
	err = wire.Write(m.conn, wire.Message{ID: id, Op: op, Body: body})
	m.write.Unlock()
	if err != nil {
		m.end(fmt.Errorf("the connection to the lab ended: %w", err))
	}
	select {
	case answer := <-c.answer:
		if answer.Error != "" {
			return nil, errors.New("lab: " + answer.Error)
		}
		return answer.Body, nil
	case <-m.gone:
		return nil, m.err
	case <-ctx.Done():
		return nil, fmt.Errorf("lab: %w", context.Cause(ctx))
	}
}

func (m *Machine) listen(hello chan<- inside.Hello) {
	for {
		message, err := wire.Read(m.conn)
		if err == nil {
			err = m.receive(message, hello)
		}
		if err != nil {
			m.end(fmt.Errorf("the connection to the lab ended: %w", err))
			return
		}
	}
}

func (m *Machine) receive(message wire.Message, hello chan<- inside.Hello) error {
	if message.Op == inside.OpHello {
		var h inside.Hello
		err := json.Unmarshal(message.Body, &h)
		select {
		case hello <- h:
		default: // it was said before
		}
		return err
	}
	m.mu.Lock()
	c := m.calls[message.ID]
	if message.Op == "" {
		delete(m.calls, message.ID)
	}
	m.mu.Unlock()
	switch {
	case c == nil:
		return nil
	case message.Op == inside.OpOutput:
		var o inside.Output
		if err := json.Unmarshal(message.Body, &o); err != nil {
			return err
		}
		out := c.stdout
		if o.Stderr {
			out = c.stderr
		}
		if out != nil {
			_, _ = out.Write(o.Data) // a reader of ours that is gone does not end the machine
		}
	default:
		c.answer <- message
	}
	return nil
}

func (m *Machine) end(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return
	}
	m.err = err
	m.conn.Close()
	close(m.gone)
}

// consoleShown bounds what is told of the console: its last lines say what failed.
const consoleShown = 2000

// explain adds to the machine's end what its console and QEMU said last.
func (m *Machine) explain(err error) error {
	select {
	case <-m.gone:
	default:
		if m.conn != nil && m.Hello != (inside.Hello{}) {
			return err // the machine lives
		}
	}
	if m.proc == nil {
		return err
	}
	said := strings.TrimSpace(m.proc.Console() + m.proc.Stderr())
	if len(said) > consoleShown {
		said = "..." + said[len(said)-consoleShown:]
	}
	return fmt.Errorf("%w\n%s", err, said)
}
