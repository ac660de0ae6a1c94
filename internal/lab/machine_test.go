package lab

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/iotax/iotax/internal/lab/inside"
)

// talk joins a machine to a server of this process, over a socket as QEMU makes one.
func talk(t *testing.T) (m *Machine, stop func()) {
	t.Helper()
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "port"))
	if err != nil {
		t.Fatal(err)
	}
	server := make(chan net.Conn)
	go func() {
		defer listener.Close()
		port, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		server <- port
		_ = inside.Serve(port, inside.Hello{Xen: true, Uptime: 1})
	}()
	conn, err := net.Dial("unix", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	m = newMachine(nil)
	m.conn = conn
	port := <-server
	t.Cleanup(func() { port.Close() })
	hello := make(chan inside.Hello, 1)
	go m.listen(hello)
	if m.Hello = <-hello; !m.Hello.Xen {
		t.Errorf("hello %+v", m.Hello)
	}
	return m, func() { port.Close() }
}

func shell(script string, out io.Writer) Command {
	return Command{Command: inside.Command{Argv: []string{"sh", "-c", script}, Dir: "/"}, Stdout: out}
}

func TestMachineRunsSeveralCommandsAtOnce(t *testing.T) {
	m, _ := talk(t)
	var all sync.WaitGroup
	for code := range 5 {
		all.Go(func() {
			var out bytes.Buffer
			script := "sleep 0.0" + string(rune('5'-code)) + "; echo " + strings.Repeat("x", code) + "; exit " + string(rune('0'+code))
			got, err := m.Run(t.Context(), shell(script, &out))
			if err != nil || got != code || out.String() != strings.Repeat("x", code)+"\n" {
				t.Errorf("%s: %d, %q, %v", script, got, out.String(), err)
			}
		})
	}
	all.Wait()
}

func TestMachineThatGoesDown(t *testing.T) {
	m, stop := talk(t)
	done := make(chan error)
	go func() {
		_, err := m.Run(t.Context(), shell("sleep 5", nil))
		done <- err
	}()
	stop()
	if err := <-done; err == nil || !strings.Contains(err.Error(), "the connection to the lab ended") {
		t.Errorf("got %v", err)
	}
	if _, err := m.Run(t.Context(), shell("true", nil)); err == nil {
		t.Error("a machine that is down runs commands")
	}
}

func TestCommandThatTakesTooLong(t *testing.T) {
	m, _ := talk(t)
	late := errors.New("too late")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(late)
	if _, err := m.Run(ctx, shell("sleep 1", nil)); !errors.Is(err, late) {
		t.Errorf("got %v", err)
	}
}
