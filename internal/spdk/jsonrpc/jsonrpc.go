// Package jsonrpc is a small client of JSON-RPC 2.0 over a Unix socket, as SPDK's targets speak it: messages follow
// each other without anything between them.
package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// maxMessage bounds what is read for one call, in bytes. The longest answer, a list of all methods, is below 64 KiB.
const maxMessage = 16 << 20

// methodNotFound is the specification's code.
const methodNotFound = -32601

// Error is a server's refusal of a call.
type Error struct {
	Method  string
	Code    int    // of the specification, or a negated errno
	Message string // the server's own words
}

// Error returns one line: method, code and the server's words.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: SPDK refused (%d): %s", e.Method, e.Code, e.Message)
}

// NotFound reports whether err says that the server does not know the method.
func NotFound(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == methodNotFound
}

// Absent reports whether err says that what the call names does not exist. Some of SPDK's methods tell that by
// ENODEV as the code, others by its text with the code of bad parameters.
func Absent(err error) bool { return says(err, unix.ENODEV, "No such device") }

// Busy reports whether err says that what the call names is in use.
func Busy(err error) bool { return says(err, unix.EBUSY, "Device or resource busy") }

// says reports whether the server's refusal is an errno, by number or by the C library's text for it.
func says(err error, errno unix.Errno, text string) bool {
	var e *Error
	return errors.As(err, &e) && (e.Code == -int(errno) || e.Message == text)
}

// Client is one connection. Its methods may be called from several goroutines; calls take turns.
type Client struct {
	conn net.Conn
	pid  int

	mu     sync.Mutex
	in     *json.Decoder
	limit  *io.LimitedReader
	lastID int64
	err    error // why the connection can be used no more
}

// Dial connects to the server at the Unix socket path.
func Dial(ctx context.Context, path string) (*Client, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	limit := &io.LimitedReader{R: conn, N: maxMessage}
	return &Client{conn: conn, pid: peer(conn), limit: limit, in: json.NewDecoder(limit)}, nil
}

// PID returns the process id of the server, 0 when it cannot be told.
func (c *Client) PID() int { return c.pid }

func peer(conn net.Conn) (pid int) {
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(cred.Pid)
		}
	})
	return pid
}

// Close ends the connection, and a call under way.
func (c *Client) Close() error { return c.conn.Close() }

type request struct {
	Version string `json:"jsonrpc"`
	Method  string `json:"method"`
	ID      int64  `json:"id"`
	Params  any    `json:"params,omitempty"`
}

type response struct {
	ID     *int64          `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// Call executes a method and decodes its result into result. params is a struct or map, nil for none; a nil result
// is ignored. A refusal is an *Error. A call whose context ends leaves a connection that cannot be used any more.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return fmt.Errorf("%s: %w", method, c.err)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	c.lastID++
	answer, err := c.exchange(request{Version: "2.0", Method: method, ID: c.lastID, Params: params})
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		c.err = fmt.Errorf("the connection to SPDK is lost: %w", err)
		return fmt.Errorf("%s: %w", method, c.err)
	}
	if answer.Error != nil {
		return &Error{Method: method, Code: answer.Error.Code, Message: answer.Error.Message}
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(answer.Result, result); err != nil {
		return fmt.Errorf("%s: answer of an unexpected shape: %w", method, err)
	}
	return nil
}

// exchange sends a request and returns its answer. An error without an id means that the server could not read what
// it was sent; whatever else carries no id is a notification, which nobody asked for.
func (c *Client) exchange(q request) (response, error) {
	line, err := json.Marshal(q)
	if err != nil {
		return response{}, err
	}
	if _, err := c.conn.Write(line); err != nil {
		return response{}, err
	}
	c.limit.N = maxMessage
	for {
		var r response
		if err := c.in.Decode(&r); err != nil {
			if c.limit.N == 0 {
				return r, fmt.Errorf("an answer longer than %d bytes", maxMessage)
			}
			return r, err
		}
		switch {
		case r.ID != nil && *r.ID == q.ID:
			if r.Error == nil && r.Result == nil {
				return r, errors.New("an answer with neither result nor error")
			}
			return r, nil
		case r.ID != nil:
			return r, fmt.Errorf("an answer to call %d, which was not made", *r.ID)
		case r.Error != nil:
			return r, fmt.Errorf("SPDK could not read the call (%d): %s", r.Error.Code, r.Error.Message)
		}
	}
}
