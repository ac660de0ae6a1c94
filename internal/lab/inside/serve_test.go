package inside

import (
	"bytes"
	"encoding/json"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/wire"
)

// dial starts a server and returns the owner's end of its port, past the first word.
func dial(t *testing.T) net.Conn {
	t.Helper()
	owner, port := net.Pipe()
	done := make(chan error)
	go func() { done <- Serve(port, Hello{Uptime: 1}) }()
	t.Cleanup(func() {
		owner.Close()
		if err := <-done; err == nil {
			t.Error("the server ended without a reason")
		}
	})
	if m, err := wire.Read(owner); err != nil || m.Op != OpHello {
		t.Fatalf("first word %+v, %v", m, err)
	}
	return owner
}

// ask sends one request and returns what comes until its answer.
func ask(t *testing.T, owner net.Conn, op, body string) (stdout, stderr string, answer wire.Message) {
	t.Helper()
	if err := wire.Write(owner, wire.Message{ID: 7, Op: op, Body: json.RawMessage(body)}); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	for {
		m, err := wire.Read(owner)
		if err != nil {
			t.Fatal(err)
		}
		if m.ID != 7 {
			t.Fatalf("message %+v", m)
		}
		if m.Op != OpOutput {
			return out.String(), errs.String(), m
		}
		var o Output
		if err := json.Unmarshal(m.Body, &o); err != nil {
			t.Fatal(err)
		}
		if o.Stderr {
			errs.Write(o.Data)
		} else {
			out.Write(o.Data)
		}
	}
}

func TestRun(t *testing.T) {
	owner := dial(t)
	for name, c := range map[string]struct {
		argv           []string
		stdout, stderr string
		code           int
	}{
		"output":      {[]string{"sh", "-c", "echo one; echo two >&2"}, "one\n", "two\n", 0},
		"exit code":   {[]string{"sh", "-c", "exit 3"}, "", "", 3},
		"signal":      {[]string{"sh", "-c", "kill -9 $$"}, "", "", 137},
		"environment": {[]string{"sh", "-c", `echo "$HOME $EXTRA"`}, "/root more\n", "", 0},
		"no input":    {[]string{"cat"}, "", "", 0},
		"much":        {[]string{"head", "-c", "200000", "/dev/zero"}, strings.Repeat("\x00", 200000), "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			body, err := json.Marshal(Command{Argv: c.argv, Env: []string{"EXTRA=more"}, Dir: "/"})
			if err != nil {
				t.Fatal(err)
			}
			stdout, stderr, answer := ask(t, owner, OpRun, string(body))
			var exit Exit
			if err := json.Unmarshal(answer.Body, &exit); err != nil {
				t.Fatalf("%v: %+v", err, answer)
			}
			if stdout != c.stdout || stderr != c.stderr || exit.Code != c.code {
				t.Errorf("got %.80q, %.80q, code %d", stdout, stderr, exit.Code)
			}
		})
	}
}

func TestFaultsGoToTheOwner(t *testing.T) {
	owner := dial(t)
	for name, c := range map[string]struct{ op, body, want string }{
		"no such program":   {OpRun, `{"argv":["no-such-program"]}`, "executable file not found"},
		"no command":        {OpRun, `{}`, "no command"},
		"rubbish":           {OpRun, `[]`, "cannot unmarshal"},
		"unknown operation": {"dance", `{}`, `unknown operation "dance"`},
		"no such share":     {OpMount, `{"tag":"none","path":"/proc/none"}`, "/proc/none"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, answer := ask(t, owner, c.op, c.body)
			if !strings.Contains(answer.Error, c.want) || answer.Body != nil {
				t.Errorf("got %+v, want %q", answer, c.want)
			}
		})
	}
}

// A daemon that a command leaves behind holds its output open; the command has ended all the same.
func TestDaemonDoesNotKeepUs(t *testing.T) {
	owner := dial(t)
	stdout, _, answer := ask(t, owner, OpRun, `{"argv":["sh","-c","sleep 30 & echo $!"],"dir":"/"}`)
	if d := cmp.Diff(`{"code":0}`, string(answer.Body)); d != "" {
		t.Error(d, answer.Error)
	}
	ask(t, owner, OpRun, `{"argv":["kill","`+strings.TrimSpace(stdout)+`"],"dir":"/"}`)
}
