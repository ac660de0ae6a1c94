package qmp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"
)

// Dial connects to QEMU's monitor at the Unix socket path and does the handshake. A QEMU that has just started
// may not have made the socket yet, so Dial tries until the context ends.
func Dial(ctx context.Context, path string) (*Client, error) {
	conn, err := DialSocket(ctx, path)
	if err != nil {
		return nil, err
	}
	return New(ctx, conn)
}

// DialSocket connects to a Unix socket that another process is about to make, trying until the context ends.
func DialSocket(ctx context.Context, path string) (net.Conn, error) {
	var dialer net.Dialer
	for {
		conn, err := dialer.DialContext(ctx, "unix", path)
		if err == nil {
			return conn, nil
		}
		if !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.ECONNREFUSED) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("nobody answers at %s: %w", path, ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}
