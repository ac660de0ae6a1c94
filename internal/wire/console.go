package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// ConsoleArg is the kernel argument that names the console on which the agent serves ("iotax.port=hvc0"), where there
// is no virtio-serial port.
const ConsoleArg = "iotax.port"

const (
	recordStart = 0x1e // RS
	recordEnd   = '\n'
	recordHead  = 9 // eight digits of the sum and a blank
)

// Console carries frames over a console on which others speak too, the guest's kernel above all. A frame becomes a
// line, much like a record of RFC 7464: RS, a CRC-32 in eight hexadecimal digits, a blank, the JSON, LF. Nothing in it
// means something to a terminal that is in raw mode, nor to Linux's hvc driver, which takes ^O for SysRq; and
// whatever lies between two records is somebody else's.
//
// Its Write takes one whole frame at a time, as package wire writes them. An error of the writer that hears the others
// ends the port, as one of the port itself does.
type Console struct {
	port   io.ReadWriteCloser
	others io.Writer // gets what lies between the records

	buf    [4096]byte
	inside bool   // of a record
	record []byte // the record under way
	ready  []byte // frames that can be read
	err    error  // that ended the port
}

// OpenConsole opens the terminal at path as a clear channel, without line discipline. What others say on it is
// written to others.
func OpenConsole(path string, others io.Writer) (*Console, error) {
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	// Not by f.Fd(): that can make the file a blocking one, whose Read under way no Close ends.
	conn, err := f.SyscallConn()
	if err == nil {
		var refused error
		err = conn.Control(func(fd uintptr) { _, refused = term.MakeRaw(fd) })
		err = errors.Join(err, refused)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: raw mode: %w", path, err)
	}
	return NewConsole(f, others), nil
}

// NewConsole wraps a console that is in raw mode. What others say on it is written to others.
func NewConsole(port io.ReadWriteCloser, others io.Writer) *Console {
	return &Console{port: port, others: others}
}

// Close closes the port underneath.
func (c *Console) Close() error { return c.port.Close() }

// Write writes one frame as a line.
func (c *Console) Write(frame []byte) (int, error) {
	if len(frame) < 4 || int(binary.BigEndian.Uint32(frame)) != len(frame)-4 {
		return 0, errors.New("wire: a console takes whole frames only")
	}
	body := frame[4:]
	line := fmt.Appendf(make([]byte, 0, len(body)+recordHead+2), "%c%08x ", recordStart, crc32.ChecksumIEEE(body))
	if _, err := c.port.Write(append(append(line, body...), recordEnd)); err != nil {
		return 0, err
	}
	return len(frame), nil
}

// Read gives the bytes of the frames that arrive. Others that spoke in the middle of a record have broken it: ErrFrame.
func (c *Console) Read(p []byte) (int, error) {
	for len(c.ready) == 0 {
		if c.err != nil {
			return 0, c.err
		}
		n, err := c.port.Read(c.buf[:])
		if broken := c.sort(c.buf[:n]); broken != nil {
			err = broken
		}
		c.err = err
	}
	n := copy(p, c.ready)
	c.ready = c.ready[n:]
	return n, nil
}

// sort tells records from what others said.
func (c *Console) sort(data []byte) error {
	for len(data) > 0 {
		if !c.inside {
			said, rest, found := bytes.Cut(data, []byte{recordStart})
			if err := c.hear(said); err != nil {
				return err
			}
			c.inside, data = found, rest
			continue
		}
		part, rest, ended := bytes.Cut(data, []byte{recordEnd})
		if c.record = append(c.record, part...); len(c.record) > MaxFrame+recordHead {
			return fmt.Errorf("%w: a record without end", ErrFrame)
		}
		if data = rest; ended {
			if err := c.take(); err != nil {
				return errors.Join(err, c.hear(data))
			}
			c.inside, c.record = false, c.record[:0]
		}
	}
	return nil
}

// take checks the record under way and makes a frame of it.
func (c *Console) take() error {
	var sum uint32
	if len(c.record) > recordHead {
		if _, err := fmt.Sscanf(string(c.record[:recordHead]), "%08x ", &sum); err == nil {
			body := c.record[recordHead:]
			if crc32.ChecksumIEEE(body) == sum && json.Valid(body) {
				c.ready = binary.BigEndian.AppendUint32(c.ready, uint32(len(body)))
				c.ready = append(c.ready, body...)
				return nil
			}
		}
	}
	err := fmt.Errorf("%w: something else was said in the middle of a record of %d bytes", ErrFrame, len(c.record))
	return errors.Join(err, c.hear(append(c.record, recordEnd)))
}

func (c *Console) hear(said []byte) error {
	if len(said) == 0 {
		return nil
	}
	_, err := c.others.Write(said)
	return err
}
