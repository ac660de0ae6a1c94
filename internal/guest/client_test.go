package guest

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/iotax/iotax/internal/agent"
	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestClientAndAgent joins the two ends without a guest between them.
func TestClientAndAgent(t *testing.T) {
	host, inside := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- agent.Serve(context.Background(), inside) }()
	c := NewClient(host)
	ctx := context.Background()
	hello, err := c.Hello(ctx)
	if err != nil || hello.CPUs < 1 {
		t.Fatalf("%+v %v", hello, err)
	}
	r, err := c.Window(ctx, load.Request{Argv: []string{"sh", "-c", "cat"}, Input: "job", Timeout: 10 * time.Second})
	if err != nil || string(r.Output) != "job" {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := c.ReadFile(ctx, "/nowhere"); err == nil || !strings.Contains(err.Error(), "guest: read: open /nowhere") {
		t.Errorf("got %v, want the guest's own words", err)
	}
	first, err := c.Clock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := c.Clock(ctx); err != nil || second < first {
		t.Errorf("the clock went from %v to %v, %v", first, second, err)
	}
	c.Close()
	<-served
	if _, err := c.Disks(ctx); err == nil {
		t.Error("a call on a closed connection succeeded")
	}
}

func TestSilentGuest(t *testing.T) {
	host, inside := net.Pipe()
	defer inside.Close()
	c := NewClient(host)
	c.patience = 80 * time.Millisecond
	go wire.Write(inside, wire.Message{Op: wire.OpHello, Body: []byte(`{"cpus":2}`)})
	if _, err := c.Hello(context.Background()); err != nil {
		t.Fatal(err)
	}
	go wire.Read(inside) // takes the request and never answers
	if _, err := c.Disks(context.Background()); !errors.Is(err, ErrSilent) {
		t.Errorf("got %v, want ErrSilent", err)
	}
	select {
	case <-c.Gone():
	default:
		t.Error("a silent guest is not gone")
	}
}

// A guest whose heart beats while a call stands still is stuck, except where a call is one that lasts.
func TestStuckGuest(t *testing.T) {
	host, inside := net.Pipe()
	defer inside.Close()
	c := NewClient(host)
	defer c.Close()
	c.answer = 20 * time.Millisecond
	go func() { // takes requests and never answers
		for {
			if _, err := wire.Read(inside); err != nil {
				return
			}
		}
	}()
	if _, err := c.Probe(context.Background(), load.Probe{}); !errors.Is(err, ErrStuck) || !Lost(err) || !strings.Contains(err.Error(), "guest: probe: ") {
		t.Errorf("got %v, want ErrStuck", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*c.answer)
	defer cancel()
	if _, err := c.Window(ctx, load.Request{}); !errors.Is(err, context.DeadlineExceeded) || Lost(err) {
		t.Errorf("got %v, want the deadline of who asked", err)
	}
	select {
	case <-c.Gone():
		t.Error("a guest that is stuck can still be asked what is wrong with it")
	default:
	}
}

func TestHelloThatNeverComes(t *testing.T) {
	host, inside := net.Pipe()
	defer inside.Close()
	c := NewClient(host)
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Hello(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestBrokenStream(t *testing.T) {
	host, inside := net.Pipe()
	c := NewClient(host)
	go func() { inside.Write([]byte("\xff\xff\xff\xff")); inside.Close() }()
	if _, err := c.Hello(context.Background()); !errors.Is(err, wire.ErrFrame) {
		t.Errorf("got %v, want a broken frame", err)
	}
}

func TestEveryBusHasADriver(t *testing.T) {
	for _, bus := range spec.Buses {
		if len(Drivers(bus)) == 0 && bus != "host" { // which is no guest
			t.Errorf("no driver for bus %s", bus)
		}
	}
	im := &Image{needs: map[string][]string{"virtio_blk": {"virtio", "virtio_blk"}, "nvme": {}}}
	paths, missing := im.Modules("virtio_blk", "nvme", "sym53c8xx", "virtio_blk")
	if len(paths) != 2 || len(missing) != 1 || missing[0] != "sym53c8xx" {
		t.Errorf("paths %v, missing %v", paths, missing)
	}
}
