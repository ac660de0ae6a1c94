package agent

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/wire"
)

func write(t *testing.T, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDisks has one disk of each kind that shows its serial in a place of its own, and one without.
func TestDisks(t *testing.T) {
	root := t.TempDir()
	for disk, files := range map[string]map[string]string{
		"vda":     {"serial": "iotax-0"},
		"nvme0n1": {"device/serial": "iotax-1             \n"},
		"sda":     {"device/vpd_pg80": "\x00\x80\x00\x07iotax-2"},
		"xvdb":    {"device/devtype": "vbd\n"},
		"sr0":     {},
	} {
		write(t, filepath.Join(root, disk, "size"), "2048\n")
		write(t, filepath.Join(root, disk, "queue/scheduler"), "none [mq-deadline]\n")
		write(t, filepath.Join(root, disk, "queue/write_cache"), "write back\n")
		write(t, filepath.Join(root, disk, "mq/0/cpu_list"), "0\n")
		write(t, filepath.Join(root, disk, "mq/1/cpu_list"), "1\n")
		for name, data := range files {
			write(t, filepath.Join(root, disk, name), data)
		}
	}
	got, err := disks(root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range got {
		names = append(names, d.Name+"="+d.Serial)
		if d.Size != 1<<20 || d.Scheduler != "mq-deadline" || d.WriteCache != "write back" || d.Queues != 2 {
			t.Errorf("%+v", d)
		}
	}
	if d := cmp.Diff([]string{"nvme0n1=iotax-1", "sda=iotax-2", "vda=iotax-0", "xvdb=xvdb"}, names); d != "" {
		t.Error(d)
	}
}

// TestServe talks to the agent as the host does: its hello, a good request, two bad ones, the end.
func TestServe(t *testing.T) {
	host, guest := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(context.Background(), guest) }()
	next := func() wire.Message {
		t.Helper()
		for {
			m, err := wire.Read(host)
			if err != nil {
				t.Fatal(err)
			}
			if m.Op != wire.OpBeat {
				return m
			}
		}
	}
	ask := func(m wire.Message) wire.Message {
		t.Helper()
		if err := wire.Write(host, m); err != nil {
			t.Fatal(err)
		}
		return next()
	}
	var hello wire.Hello
	if m := next(); m.Op != wire.OpHello || json.Unmarshal(m.Body, &hello) != nil || hello.CPUs < 1 || hello.Memory < 1 {
		t.Fatalf("hello: %+v %+v", m, hello)
	}
	file := filepath.Join(t.TempDir(), "f")
	write(t, file, "content")
	body, _ := json.Marshal(wire.File{Path: file})
	m := ask(wire.Message{ID: 1, Op: wire.OpRead, Body: body})
	if m.ID != 1 || m.Error != "" || !strings.Contains(string(m.Body), "content") {
		t.Errorf("read: %+v", m)
	}
	if m := ask(wire.Message{ID: 2, Op: "make-coffee"}); m.Error != `unknown operation "make-coffee"` {
		t.Errorf("unknown operation: %+v", m)
	}
	if m := ask(wire.Message{ID: 3, Op: wire.OpProbe, Body: json.RawMessage(`[1]`)}); m.ID != 3 || m.Error == "" {
		t.Errorf("broken body: %+v", m)
	}
	host.Close()
	if err := <-served; err == nil {
		t.Error("the agent serves on without a host")
	}
}

func TestChosen(t *testing.T) {
	for list, want := range map[string]string{"[none] mq-deadline": "none", "none": "none", "": "", "none [bfq] kyber": "bfq"} {
		if got := chosen(list); got != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
}
