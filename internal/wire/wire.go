// Package wire carries messages between the host and the agent inside the guest over a byte stream:
// a frame is a four-byte big-endian length and that many bytes of JSON.
package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxFrame bounds a frame: fio's json+ of the largest job stays far below it, and a lost
// byte in the stream does not make the reader wait for gigabytes.
const MaxFrame = 64 << 20

// ErrFrame says that the stream is out of step: nothing after it can be trusted.
var ErrFrame = errors.New("wire: broken frame")

// Message is a request (Op set), its answer (same ID, Op empty) or an event (ID 0, Op names it).
type Message struct {
	ID    uint64          `json:"id,omitempty"`
	Op    string          `json:"op,omitempty"`
	Body  json.RawMessage `json:"body,omitempty"`
	Error string          `json:"error,omitempty"`
}

// Write sends one message in one write, so that writers under a lock never interleave.
func Write(w io.Writer, m Message) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(body) > MaxFrame {
		return fmt.Errorf("%w: message of %d bytes, at most %d", ErrFrame, len(body), MaxFrame)
	}
	frame := make([]byte, 4, 4+len(body))
	binary.BigEndian.PutUint32(frame, uint32(len(body)))
	_, err = w.Write(append(frame, body...))
	return err
}

// Read returns the next message; io.EOF only between two messages.
func Read(r io.Reader) (Message, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return Message{}, fmt.Errorf("%w: the stream ended inside a length", ErrFrame)
		}
		return Message{}, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size == 0 || size > MaxFrame {
		return Message{}, fmt.Errorf("%w: length %d, at most %d", ErrFrame, size, MaxFrame)
	}
	// Grow with what really arrives: a false length must not take 64 MiB at once.
	body, err := io.ReadAll(io.LimitReader(r, int64(size)))
	if err != nil {
		return Message{}, err
	}
	if len(body) < int(size) {
		return Message{}, fmt.Errorf("%w: the stream ended after %d of %d bytes", ErrFrame, len(body), size)
	}
	var m Message
	if err := json.Unmarshal(body, &m); err != nil {
		return Message{}, fmt.Errorf("%w: %v", ErrFrame, err)
	}
	return m, nil
}
