// Package qmp is a small client of QEMU's monitor protocol (QMP): commands that overlap, typed errors,
// events, and the few typed queries that iotax asks. It knows nothing of what QEMU runs.
package qmp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// maxLine bounds one message of QEMU, in bytes. The largest reply known, that of query-qmp-schema, is below 1 MiB.
const maxLine = 16 << 20

// ErrClosed is wrapped by every error that a closed connection causes.
var ErrClosed = errors.New("QMP connection closed")

// Client is one QMP connection past its handshake. Its methods may be called from several goroutines at once.
type Client struct {
	conn    net.Conn
	version Version
	out     chan []byte // whole messages for the writer, so that a cancelled call never leaves half of one
	greeted chan Version
	done    chan struct{}
	running sync.WaitGroup

	mu      sync.Mutex
	err     error // why the connection ended; set before done is closed
	lastID  uint64
	pending map[uint64]chan message
	subs    map[*Subscription]struct{}
}

// New does the handshake on conn, which it owns from then on: it is closed when New fails or the client ends.
func New(ctx context.Context, conn net.Conn) (*Client, error) {
	c := &Client{
		conn:    conn,
		out:     make(chan []byte),
		greeted: make(chan Version, 1),
		done:    make(chan struct{}),
		pending: map[uint64]chan message{},
		subs:    map[*Subscription]struct{}{},
	}
	c.running.Go(c.read)
	c.running.Go(c.write)
	if err := c.handshake(ctx); err != nil {
		c.Close()
		return nil, fmt.Errorf("QMP handshake: %w", err)
	}
	return c, nil
}

func (c *Client) handshake(ctx context.Context) error {
	select {
	case c.version = <-c.greeted:
		return c.Call(ctx, "qmp_capabilities", nil, nil)
	case <-ctx.Done():
		return fmt.Errorf("no greeting: %w", ctx.Err())
	case <-c.done:
		return c.Err()
	}
}

// Greeting returns the version that QEMU announced when the connection was made.
func (c *Client) Greeting() Version { return c.version }

// Done is closed when the connection has ended, whoever ended it.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err returns why the connection ended, nil while it lives. It wraps ErrClosed.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the connection and every pending call. It may be called more than once.
func (c *Client) Close() error {
	c.fail(ErrClosed)
	c.running.Wait()
	return nil
}

// Call executes a command and decodes what it returns into result. args is a struct or map, nil for none; a nil
// result is ignored. A refusal of QEMU is an *Error; the end of the connection wraps ErrClosed. A call whose
// context ends returns at once, though QEMU may still carry the command out.
func (c *Client) Call(ctx context.Context, command string, args, result any) error {
	id, reply, err := c.register()
	if err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	defer c.forget(id)
	line, err := json.Marshal(request{Execute: command, Arguments: args, ID: id})
	if err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	m, err := c.exchange(ctx, append(line, '\n'), reply)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", command, err)
	case m.Error != nil:
		return &Error{Command: command, Class: m.Error.Class, Desc: m.Error.Desc}
	case result == nil:
		return nil
	}
	if err := json.Unmarshal(m.Return, result); err != nil {
		return fmt.Errorf("%s: reply of an unexpected shape: %w", command, err)
	}
	return nil
}

func (c *Client) exchange(ctx context.Context, line []byte, reply <-chan message) (message, error) {
	select {
	case c.out <- line:
	case <-ctx.Done():
		return message{}, ctx.Err()
	case <-c.done:
		return message{}, c.Err()
	}
	select {
	case m := <-reply:
		return m, nil
	case <-ctx.Done():
		return message{}, ctx.Err()
	case <-c.done:
	}
	select { // the last reply may have come just before the end, as that of quit does
	case m := <-reply:
		return m, nil
	default:
		return message{}, c.Err()
	}
}

func (c *Client) register() (uint64, <-chan message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, nil, c.err
	}
	c.lastID++
	reply := make(chan message, 1)
	c.pending[c.lastID] = reply
	return c.lastID, reply, nil
}

func (c *Client) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
}

// fail ends the connection for the reason err; only the first reason counts.
func (c *Client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	close(c.done)
	c.conn.Close()
}

func (c *Client) write() {
	for {
		select {
		case line := <-c.out:
			if _, err := c.conn.Write(line); err != nil {
				c.fail(fmt.Errorf("%w while sending: %v", ErrClosed, err))
				return
			}
		case <-c.done:
			return
		}
	}
}

func (c *Client) read() {
	in := bufio.NewReader(c.conn)
	for {
		line, err := readLine(in, maxLine)
		if errors.Is(err, io.EOF) {
			c.fail(fmt.Errorf("%w by QEMU", ErrClosed))
			return
		}
		if err == nil && len(line) > 0 {
			var m message
			if m, err = parse(line); err == nil {
				err = c.deliver(m)
			}
		}
		if err != nil {
			c.fail(fmt.Errorf("%w: %v", ErrClosed, err))
			return
		}
	}
}

// deliver hands one message to whoever waits for it and never blocks. A reply that nobody waits for any more
// belongs to a cancelled call; an error without an id means that QEMU could not read what we sent.
func (c *Client) deliver(m message) error {
	if m.Event != "" {
		c.publish(m.event())
		return nil
	}
	if m.Greeting != nil {
		select {
		case c.greeted <- m.Greeting.version():
			return nil
		default:
			return errors.New("a second greeting")
		}
	}
	if m.ID == nil {
		return fmt.Errorf("a reply without an id: %v", m.Error)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if reply, ok := c.pending[*m.ID]; ok {
		delete(c.pending, *m.ID)
		reply <- m
	}
	return nil
}
