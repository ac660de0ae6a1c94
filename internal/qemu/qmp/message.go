package qmp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Error is QEMU's refusal of a command.
type Error struct {
	Command string
	Class   string // "GenericError", "CommandNotFound", "DeviceNotFound", ...
	Desc    string // QEMU's own words
}

// Error returns the command and QEMU's own words.
func (e *Error) Error() string { return e.Command + ": QEMU refused: " + e.Desc }

// NotFound reports whether err says that this QEMU does not know the command.
func NotFound(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Class == "CommandNotFound"
}

// Event is something that QEMU said unasked. Data is a JSON object or nil; Time is QEMU's wall clock.
type Event struct {
	Name string
	Data json.RawMessage
	Time time.Time
}

type request struct {
	Execute   string `json:"execute"`
	Arguments any    `json:"arguments,omitempty"`
	ID        uint64 `json:"id"`
}

// message is anything that QEMU sends: exactly one of greeting, return, error and event.
type message struct {
	Greeting  *greeting       `json:"QMP"`
	Return    json.RawMessage `json:"return"`
	Error     *failure        `json:"error"`
	Event     string          `json:"event"`
	Data      json.RawMessage `json:"data"`
	Timestamp struct {
		Seconds      int64 `json:"seconds"`
		Microseconds int64 `json:"microseconds"`
	} `json:"timestamp"`
	ID *uint64 `json:"id"`
}

type failure struct {
	Class string `json:"class"`
	Desc  string `json:"desc"`
}

func (f *failure) String() string {
	if f == nil {
		return "no error either"
	}
	return f.Desc
}

type greeting struct {
	Version versionReply `json:"version"`
}

func (g greeting) version() Version { return g.Version.version() }

func (m message) event() Event {
	return Event{
		Name: m.Event,
		Data: m.Data,
		Time: time.Unix(m.Timestamp.Seconds, m.Timestamp.Microseconds*1000).UTC(),
	}
}

// parse decodes one line of QEMU.
func parse(line []byte) (message, error) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return message{}, fmt.Errorf("not a QMP message: %s: %w", excerpt(line), err)
	}
	kinds := 0
	for _, has := range []bool{m.Greeting != nil, m.Return != nil, m.Error != nil, m.Event != ""} {
		if has {
			kinds++
		}
	}
	if kinds != 1 {
		return message{}, fmt.Errorf("not a QMP message: %s: want one of QMP, return, error, event", excerpt(line))
	}
	return m, nil
}

func excerpt(line []byte) string {
	const most = 80
	if len(line) > most {
		return fmt.Sprintf("%q...", line[:most])
	}
	return fmt.Sprintf("%q", line)
}

// readLine returns the next line without its end, whole and at most limit bytes long.
func readLine(in *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > limit {
			return nil, fmt.Errorf("a message longer than %d bytes", limit)
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), err
		}
	}
}
