package qmp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const hello = `{"QMP": {"version": {"qemu": {"micro": 0, "minor": 2, "major": 9}, "package": "test"}, "capabilities": []}}`

// peer plays QEMU's side of a connection.
type peer struct {
	net.Conn
	in *bufio.Scanner
}

func (p *peer) say(format string, args ...any) { fmt.Fprintf(p.Conn, format+"\r\n", args...) }

// hear returns the next request, the zero one when the client has gone.
func (p *peer) hear() (r request) {
	if p.in.Scan() {
		_ = json.Unmarshal(p.in.Bytes(), &r)
	}
	return r
}

// connect returns a client past its handshake; serve then plays QEMU until the end of the test.
func connect(t *testing.T, serve func(*peer)) *Client {
	t.Helper()
	ours, theirs := net.Pipe()
	var ended sync.WaitGroup
	ended.Go(func() {
		p := &peer{theirs, bufio.NewScanner(theirs)}
		p.say(hello)
		p.say(`{"return": {}, "id": %d}`, p.hear().ID)
		serve(p)
	})
	t.Cleanup(ended.Wait)
	c, err := New(t.Context(), ours)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close(); c.Close() })
	return c
}

func TestCallsOverlap(t *testing.T) {
	c := connect(t, func(p *peer) {
		first, second := p.hear(), p.hear()
		p.say(`{"return": {"status": "%s"}, "id": %d}`, second.Execute, second.ID)
		p.say(`{"return": {"status": "%s"}, "id": %d}`, first.Execute, first.ID)
	})
	if got := c.Greeting(); got != (Version{9, 2, 0, "test"}) {
		t.Errorf("Greeting = %+v", got)
	}
	var calls sync.WaitGroup
	for _, command := range []string{"a", "b"} {
		calls.Go(func() {
			var s Status
			if err := c.Call(t.Context(), command, nil, &s); err != nil || s.Status != command {
				t.Errorf("Call(%s) = %+v, %v", command, s, err)
			}
		})
	}
	calls.Wait()
}

func TestErrors(t *testing.T) {
	c := connect(t, func(p *peer) {
		p.say(`{"error": {"class": "CommandNotFound", "desc": "The command x has not been found"}, "id": %d}`, p.hear().ID)
		p.say(`{"return": [], "id": %d}`, p.hear().ID)
	})
	err := c.Call(t.Context(), "x", nil, nil)
	var refused *Error
	if !errors.As(err, &refused) || refused.Class != "CommandNotFound" || !NotFound(err) {
		t.Errorf("err = %v, want an *Error of class CommandNotFound", err)
	}
	if want := "x: QEMU refused: The command x has not been found"; err.Error() != want {
		t.Errorf("err = %q, want %q", err, want)
	}
	if _, err := c.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "query-status: reply of an unexpected shape") {
		t.Errorf("a list for an object: %v", err)
	}
}

func TestCancelledCallLeavesTheConnection(t *testing.T) {
	heard := make(chan struct{})
	c := connect(t, func(p *peer) {
		late := p.hear()
		close(heard)
		next := p.hear()
		p.say(`{"return": {"status": "late"}, "id": %d}`, late.ID)
		p.say(`{"return": {"status": "next"}, "id": %d}`, next.ID)
	})
	ctx, cancel := context.WithCancel(t.Context())
	slow := make(chan error, 1)
	go func() { slow <- c.Call(ctx, "slow", nil, nil) }()
	<-heard
	cancel()
	if err := <-slow; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled call: %v", err)
	}
	if s, err := c.Status(t.Context()); err != nil || s.Status != "next" {
		t.Errorf("the call after it: %+v, %v", s, err)
	}
}

func TestClosedConnectionEndsCalls(t *testing.T) {
	c := connect(t, func(p *peer) { p.hear(); p.Close() })
	err := c.Call(t.Context(), "x", nil, nil)
	if !errors.Is(err, ErrClosed) || !strings.Contains(err.Error(), "x: QMP connection closed by QEMU") {
		t.Errorf("call cut short: %v", err)
	}
	<-c.Done()
	if err := c.Call(t.Context(), "y", nil, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("call after the end: %v", err)
	}
}

func TestGarbageEndsTheConnection(t *testing.T) {
	for name, line := range map[string]string{
		"not JSON":         "hello",
		"error without id": `{"error": {"class": "GenericError", "desc": "JSON parse error"}}`,
		"second greeting":  hello + "\r\n" + hello, // the first one is taken for ours only before the handshake
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, func(p *peer) { p.hear(); p.say("%s", line) })
			if err := c.Call(t.Context(), "x", nil, nil); !errors.Is(err, ErrClosed) {
				t.Errorf("err = %v, want ErrClosed", err)
			}
		})
	}
}

func TestQuit(t *testing.T) {
	t.Run("reply", func(t *testing.T) {
		c := connect(t, func(p *peer) { p.say(`{"return": {}, "id": %d}`, p.hear().ID); p.Close() })
		if err := c.Quit(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("closed first", func(t *testing.T) {
		c := connect(t, func(p *peer) { p.hear(); p.Close() })
		if err := c.Quit(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestHandshakeFails(t *testing.T) {
	ours, theirs := net.Pipe()
	theirs.Close()
	if _, err := New(t.Context(), ours); !errors.Is(err, ErrClosed) {
		t.Errorf("closed before the greeting: %v", err)
	}
	ours, theirs = net.Pipe()
	defer theirs.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(ctx, ours); !errors.Is(err, context.Canceled) {
		t.Errorf("no greeting: %v", err)
	}
}
