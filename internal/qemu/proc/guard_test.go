package proc

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestGuardAndName ends a context with a process that is no QEMU, and reads of it by its own name.
func TestGuardAndName(t *testing.T) {
	p, err := Start(Config{Name: "some-daemon", Args: []string{"sh", "-c", "read line; echo no such volume >&2; exit $line"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := Guard(t.Context(), p.Done(), p.Err)
	defer cancel()
	<-ctx.Done() // read meets the end of its input
	var exit *Exit
	if !errors.As(context.Cause(ctx), &exit) {
		t.Fatalf("cause %v, want the end of the process", context.Cause(ctx))
	}
	for _, want := range []string{"some-daemon (pid ", "some-daemon said: no such volume"} {
		if !strings.Contains(exit.Error(), want) {
			t.Errorf("%q has no %q", exit.Error(), want)
		}
	}
	if strings.Contains(exit.Error(), "guest") || strings.Contains(exit.Error(), "QEMU") {
		t.Errorf("a daemon's end is told as a guest's: %v", exit)
	}
}

func TestGuardIsGivenUp(t *testing.T) {
	ctx, cancel := Guard(t.Context(), make(chan struct{}), func() error { return errors.New("dead") })
	cancel()
	<-ctx.Done()
	if !errors.Is(context.Cause(ctx), context.Canceled) {
		t.Errorf("cause %v", context.Cause(ctx))
	}
}
