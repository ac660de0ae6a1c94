package guest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/wire"
)

// ErrSilent says that the guest has given no sign of life for Patience.
var ErrSilent = errors.New("the guest went silent")

// Patience is how long a guest may give no sign of life: many beats, so that a busy host is no dead guest.
const Patience = 12 * wire.Beat

// ErrStuck says that the guest lives and yet does not answer: it waits for something that does not come, such as the end
// of an I/O.
var ErrStuck = errors.New("the guest is stuck")

// answerPatience is how long a guest may take over what takes it a moment, on the slowest of hosts. Loads and discards, which
// last, are bounded by who asks for them.
const answerPatience = 2 * time.Minute

// Lost reports whether an error of a Client means that nothing more can be had from the guest.
func Lost(err error) bool { return errors.Is(err, ErrSilent) || errors.Is(err, ErrStuck) }

// Client talks to the agent of one guest. It is safe for concurrent use.
type Client struct {
	conn     io.ReadWriteCloser
	hello    chan wire.Hello
	gone     chan struct{} // closed when the connection ends or the guest goes silent
	write    sync.Mutex
	patience time.Duration // with a guest that gives no sign of life
	answer   time.Duration // with a guest that does

	mu      sync.Mutex
	next    uint64
	pending map[uint64]chan wire.Message
	heard   time.Time
	err     error
}

// NewClient starts to listen on a connection to the agent's port. Closing it must end a Read under way.
func NewClient(conn io.ReadWriteCloser) *Client {
	c := &Client{
		conn: conn, hello: make(chan wire.Hello, 1), gone: make(chan struct{}),
		pending: map[uint64]chan wire.Message{}, patience: Patience, answer: answerPatience,
	}
	go c.listen()
	return c
}

// Hello waits for the agent's first word. From then on silence counts.
func (c *Client) Hello(ctx context.Context) (wire.Hello, error) {
	select {
	case h := <-c.hello:
		c.touch()
		go c.watch()
		return h, nil
	case <-c.gone:
		return wire.Hello{}, c.reason()
	case <-ctx.Done():
		return wire.Hello{}, fmt.Errorf("waiting for the guest's agent: %w", context.Cause(ctx))
	}
}

// Gone is closed when nothing more can come from the guest.
func (c *Client) Gone() <-chan struct{} { return c.gone }

// Close ends the connection; calls under way return an error.
func (c *Client) Close() error {
	c.end(errors.New("the connection to the guest was closed"))
	return nil
}

// Window runs a load generator inside the guest.
func (c *Client) Window(ctx context.Context, q load.Request) (r load.Result, err error) {
	return r, c.last(ctx, wire.OpWindow, q, &r)
}

// Load inserts kernel modules, in order.
func (c *Client) Load(ctx context.Context, paths []string) error {
	return c.LoadWith(ctx, paths, nil)
}

// LoadWith is Load with parameters of some modules, by name.
func (c *Client) LoadWith(ctx context.Context, paths []string, parameters map[string]string) error {
	return c.call(ctx, wire.OpLoad, wire.Load{Paths: paths, Parameters: parameters}, nil)
}

// Disks lists the guest's disks that have a serial or a PCI address.
func (c *Client) Disks(ctx context.Context) (disks []wire.Disk, err error) {
	return disks, c.call(ctx, wire.OpDisks, nil, &disks)
}

// Tune sets the queue of a disk of the guest.
func (c *Client) Tune(ctx context.Context, q wire.Tune) error {
	return c.call(ctx, wire.OpTune, q, nil)
}

// Discard tells a disk of the guest that nothing on it is needed any more.
func (c *Client) Discard(ctx context.Context, q load.Discard) error {
	return c.last(ctx, wire.OpDiscard, q, nil)
}

// Probe writes synchronously to a disk of the guest.
func (c *Client) Probe(ctx context.Context, q load.Probe) (s load.Stat, err error) {
	return s, c.call(ctx, wire.OpProbe, q, &s)
}

// ReadFile and WriteFile reach small files of the guest, such as those of /sys and /proc.
func (c *Client) ReadFile(ctx context.Context, path string) (string, error) {
	var f wire.File
	err := c.call(ctx, wire.OpRead, wire.File{Path: path}, &f)
	return f.Data, err
}

// WriteFile writes a file inside the guest.
func (c *Client) WriteFile(ctx context.Context, path, data string) error {
	return c.call(ctx, wire.OpWrite, wire.File{Path: path, Data: data}, nil)
}

// Clock returns the guest's monotonic clock.
func (c *Client) Clock(ctx context.Context) (time.Duration, error) {
	var k wire.Clock
	err := c.call(ctx, wire.OpClock, nil, &k)
	return k.Monotonic, err
}

// PowerOff asks the guest to end.
func (c *Client) PowerOff(ctx context.Context) error {
	return c.call(ctx, wire.OpPowerOff, nil, nil)
}

// call asks for what takes a moment.
func (c *Client) call(ctx context.Context, op string, in, out any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.answer, fmt.Errorf("%w: it lives, and has not answered within %v", ErrStuck, c.answer))
	defer cancel()
	return c.last(ctx, op, in, out)
}

// last asks for what may last as long as ctx lets it.
func (c *Client) last(ctx context.Context, op string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	answer := make(chan wire.Message, 1)
	c.mu.Lock()
	c.next++
	id := c.next
	c.pending[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.pending, id)
		c.mu.Unlock()
	}()

	c.write.Lock()
	err = wire.Write(c.conn, wire.Message{ID: id, Op: op, Body: body})
	c.write.Unlock()
	if err != nil {
		c.end(fmt.Errorf("the connection to the guest broke: %w", err))
	}
	select {
	case m := <-answer:
		if m.Error != "" {
			return fmt.Errorf("guest: %s: %s", op, m.Error)
		}
		if out == nil {
			return nil
		}
		return json.Unmarshal(m.Body, out)
	case <-c.gone:
		return c.reason()
	case <-ctx.Done():
		return fmt.Errorf("guest: %s: %w", op, context.Cause(ctx))
	}
}

func (c *Client) listen() {
	for {
		m, err := wire.Read(c.conn)
		if err != nil {
			c.end(fmt.Errorf("the connection to the guest ended: %w", err))
			return
		}
		c.touch()
		switch {
		case m.Op == wire.OpHello:
			var h wire.Hello
			if err := json.Unmarshal(m.Body, &h); err != nil {
				c.end(err)
				return
			}
			select {
			case c.hello <- h:
			default: // a guest that says hello twice has restarted, which -no-reboot forbids
			}
		case m.ID != 0:
			c.mu.Lock()
			if answer, ok := c.pending[m.ID]; ok {
				answer <- m
			}
			c.mu.Unlock()
		}
	}
}

// watch ends the connection of a guest that gives no sign of life.
func (c *Client) watch() {
	tick := time.NewTicker(c.patience / 8)
	defer tick.Stop()
	for {
		select {
		case <-c.gone:
			return
		case now := <-tick.C:
			c.mu.Lock()
			silent := now.Sub(c.heard)
			c.mu.Unlock()
			if silent > c.patience {
				c.end(fmt.Errorf("%w: no sign of life for %.1f s", ErrSilent, silent.Seconds()))
				return
			}
		}
	}
}

func (c *Client) touch() {
	c.mu.Lock()
	c.heard = time.Now()
	c.mu.Unlock()
}

func (c *Client) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	c.conn.Close()
	close(c.gone)
}

func (c *Client) reason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
