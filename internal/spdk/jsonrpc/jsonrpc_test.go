package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server plays SPDK's side of one connection.
type server struct {
	net.Conn
	in *json.Decoder
}

type call struct {
	Version string          `json:"jsonrpc"`
	Method  string          `json:"method"`
	ID      int64           `json:"id"`
	Params  json.RawMessage `json:"params"`
}

func (p *server) hear() (c call) {
	_ = p.in.Decode(&c)
	return c
}

func (p *server) say(format string, args ...any) { fmt.Fprintf(p.Conn, format, args...) }

// connect returns a client of a server that serve plays until the end of the test.
func connect(t *testing.T, serve func(*server)) *Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rpc")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var ended sync.WaitGroup
	ended.Go(func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		serve(&server{conn, json.NewDecoder(conn)})
		_, _ = io.Copy(io.Discard, conn) // until the client goes
	})
	c, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); l.Close(); ended.Wait() })
	return c
}

// TestCall has an answer in pieces, two at once with a notification between, and one spread over lines as SPDK prints.
func TestCall(t *testing.T) {
	c := connect(t, func(p *server) {
		q := p.hear()
		if q.Version != "2.0" || q.Method != "bdev_get_bdevs" || string(q.Params) != `{"name":"d"}` {
			t.Errorf("asked %+v", q)
		}
		for _, part := range []string{`{"jsonrpc": "2.`, `0", "id": %d, "resu`, "lt\": [\n  \"M\xc3", "\xa4lloc0\"", "]}"} {
			if strings.Contains(part, "%d") {
				part = fmt.Sprintf(part, q.ID)
			}
			p.say("%s", part)
			time.Sleep(time.Millisecond)
		}
		q = p.hear()
		if q.Params != nil {
			t.Errorf("params %s, want none", q.Params)
		}
		p.say(`{"jsonrpc":"2.0","id":%d,"result":true}{"jsonrpc":"2.0","method":"note"}{"jsonrpc":"2.0","id":%d,"result":7}`, q.ID, q.ID+1)
		p.hear()
	})
	var names []string
	if err := c.Call(t.Context(), "bdev_get_bdevs", map[string]string{"name": "d"}, &names); err != nil || len(names) != 1 || names[0] != "Mälloc0" {
		t.Errorf("names %q, %v", names, err)
	}
	if err := c.Call(t.Context(), "framework_wait_init", nil, nil); err != nil {
		t.Error(err)
	}
	var n int
	if err := c.Call(t.Context(), "n", nil, &n); err != nil || n != 7 {
		t.Errorf("n = %d, %v", n, err)
	}
	if c.PID() != os.Getpid() {
		t.Errorf("PID = %d, want our own", c.PID())
	}
}

func TestRefusals(t *testing.T) {
	answers := []string{
		`{"jsonrpc": "2.0", "id": %d, "error": {"code": -32601, "message": "Method not found"}}`,
		`{"jsonrpc": "2.0", "id": %d, "error": {"code": -19, "message": "No such device"}}`,
		`{"jsonrpc": "2.0", "id": %d, "error": {"code": -32602, "message": "No such device"}}`,
		`{"jsonrpc": "2.0", "id": %d, "error": {"code": -32602, "message": "Device or resource busy"}}`,
		`{"jsonrpc": "2.0", "id": %d, "error": {"code": -32602, "message": "Invalid argument"}}`,
	}
	c := connect(t, func(p *server) {
		for _, a := range answers {
			p.say(a, p.hear().ID)
		}
		p.say(`{"jsonrpc": "2.0", "id": %d, "result": "text"}`, p.hear().ID)
	})
	for i, want := range []struct {
		text                   string
		notFound, absent, busy bool
	}{
		{"m: SPDK refused (-32601): Method not found", true, false, false},
		{"m: SPDK refused (-19): No such device", false, true, false},
		{"m: SPDK refused (-32602): No such device", false, true, false},
		{"m: SPDK refused (-32602): Device or resource busy", false, false, true},
		{"m: SPDK refused (-32602): Invalid argument", false, false, false},
	} {
		err := c.Call(t.Context(), "m", nil, nil)
		if err == nil || err.Error() != want.text || NotFound(err) != want.notFound || Absent(err) != want.absent || Busy(err) != want.busy {
			t.Errorf("answer %d: %v, not found %v, absent %v, busy %v; want %+v", i, err, NotFound(err), Absent(err), Busy(err), want)
		}
	}
	var n int
	if err := c.Call(t.Context(), "m", nil, &n); err == nil || !strings.Contains(err.Error(), "unexpected shape") {
		t.Errorf("a text for a number: %v", err)
	}
}

// TestBrokenAnswers: after any of them the connection is of no use, and says why at every call.
func TestBrokenAnswers(t *testing.T) {
	for name, tt := range map[string]struct{ answer, want string }{
		"garbage":         {"SPDK\n", "invalid character"},
		"cut":             {`{"id": 1, "resu`, "EOF"},
		"nothing":         {"", "EOF"},
		"another call's":  {`{"jsonrpc": "2.0", "id": 99, "result": true}`, "call 99, which was not made"},
		"neither":         {`{"jsonrpc": "2.0", "id": 1}`, "neither result nor error"},
		"could not parse": {`{"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "Parse error"}}`, "could not read the call (-32700): Parse error"},
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, func(p *server) {
				p.hear()
				p.say("%s", tt.answer)
				_ = p.Conn.(*net.UnixConn).CloseWrite()
			})
			for range 2 {
				if err := c.Call(t.Context(), "m", nil, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("err = %v, want %q in it", err, tt.want)
				}
			}
		})
	}
}

func TestEndOfContext(t *testing.T) {
	c := connect(t, func(p *server) { p.hear() })
	late := errors.New("too late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, late)
	defer cancel()
	for range 2 {
		if err := c.Call(ctx, "m", nil, nil); !errors.Is(err, late) {
			t.Errorf("err = %v, want %v", err, late)
		}
	}
}

func TestNobodyListens(t *testing.T) {
	if _, err := Dial(t.Context(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Dial = %v", err)
	}
}

// FuzzAnswer feeds a client whatever a server may say: it neither hangs nor panics, and takes for a result only what
// bears the number of its call.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{"", "{}", `{"id":1,"result":true}`, `{"id":1,"error":{"code":-1,"message":"x"}}`, `{"id":null}{"id":1`, "[]", "null null"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		ours, theirs := net.Pipe()
		var wrote sync.WaitGroup
		wrote.Go(func() {
			defer theirs.Close()
			_ = json.NewDecoder(theirs).Decode(&call{})
			_, _ = theirs.Write(answer)
		})
		limit := &io.LimitedReader{R: ours, N: maxMessage}
		c := &Client{conn: ours, limit: limit, in: json.NewDecoder(limit)}
		var result any
		if err := c.Call(t.Context(), "m", nil, &result); err == nil && !numbered(answer) {
			t.Errorf("%q was taken for the result %v", answer, result)
		}
		ours.Close()
		wrote.Wait()
	})
}

// numbered reports whether one of the messages is for call 1.
func numbered(text []byte) bool {
	in := json.NewDecoder(bytes.NewReader(text))
	for {
		var m struct{ ID *int64 }
		if in.Decode(&m) != nil {
			return false
		}
		if m.ID != nil && *m.ID == 1 {
			return true
		}
	}
}
