package agent

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/iotax/iotax/internal/wire"
)

func TestConsoleName(t *testing.T) {
	for cmdline, want := range map[string]string{
		"console=hvc0 iotax.port=hvc0 quiet": "hvc0",
		"console=ttyS0 quiet":                "",
		"":                                   "",
		"xiotax.port=hvc0":                   "",
		"iotax.port=/dev/hvc1":               "hvc1",
		"iotax.port=../../etc/passwd":        "passwd",
	} {
		if got := consoleName(cmdline); got != want {
			t.Errorf("%q: %q, want %q", cmdline, got, want)
		}
	}
}

// TestConsole serves on a terminal, whose line discipline would echo, fold and cut what passes through it, while
// the kernel speaks on it too.
func TestConsole(t *testing.T) {
	host, guest, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	defer host.Close()
	defer guest.Close()
	port, err := openConsole(guest.Name(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- Serve(t.Context(), port) }()
	var others bytes.Buffer
	console := wire.NewConsole(host, &others)
	next := func() wire.Message {
		t.Helper()
		for {
			m, err := wire.Read(console)
			if err != nil {
				t.Fatal(err)
			}
			if m.Op != wire.OpBeat {
				return m
			}
		}
	}
	if m := next(); m.Op != wire.OpHello {
		t.Fatalf("first word %+v", m)
	}
	if _, err := guest.WriteString("[    5.2] random: crng init done\r\n"); err != nil {
		t.Fatal(err)
	}
	// Longer than the 4096 bytes of a terminal's line, and with an id whose bytes are ^O, ^C and ^D.
	want := strings.Repeat("x", 20000)
	file := filepath.Join(t.TempDir(), "f")
	write(t, file, want)
	if err := wire.Write(console, wire.Message{ID: 0x0f0304, Op: wire.OpRead, Body: []byte(`{"path":"` + file + `"}`)}); err != nil {
		t.Fatal(err)
	}
	if m := next(); m.ID != 0x0f0304 || m.Error != "" || !bytes.Contains(m.Body, []byte(want)) {
		t.Errorf("answer %d of %d bytes, %s", m.ID, len(m.Body), m.Error)
	}
	if others.String() != "[    5.2] random: crng init done\r\n" {
		t.Errorf("others said %q", others.String())
	}
	host.Close()
	if err := <-served; err == nil {
		t.Error("the agent serves on without a host")
	}
}

func TestNoConsole(t *testing.T) {
	dir := t.TempDir()
	if _, err := openConsole(filepath.Join(dir, "hvc0"), 10*time.Millisecond); err == nil || !strings.Contains(err.Error(), "hvc0") {
		t.Errorf("a console that never comes: %v", err)
	}
	write(t, filepath.Join(dir, "file"), "")
	if _, err := openConsole(filepath.Join(dir, "file"), 10*time.Millisecond); err == nil || !strings.Contains(err.Error(), "raw mode") {
		t.Errorf("a file as console: %v", err)
	}
}
