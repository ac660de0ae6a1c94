package qmp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Version is QEMU's version and, when a distribution built it, its package.
type Version struct {
	Major   int    `json:"major"`
	Minor   int    `json:"minor"`
	Micro   int    `json:"micro"`
	Package string `json:"package,omitempty"`
}

// String returns the version alone, such as "7.2.22".
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Micro) }

// AtLeast reports whether v is major.minor or later.
func (v Version) AtLeast(major, minor int) bool {
	return v.Major > major || v.Major == major && v.Minor >= minor
}

type versionReply struct {
	QEMU    Version `json:"qemu"`
	Package string  `json:"package"`
}

func (r versionReply) version() Version {
	v := r.QEMU
	v.Package = r.Package
	return v
}

// Version asks for the version.
func (c *Client) Version(ctx context.Context) (Version, error) {
	var r versionReply
	err := c.Call(ctx, "query-version", nil, &r)
	return r.version(), err
}

// Status is whether the guest runs: Status is QEMU's word, such as "running", "prelaunch", "io-error", "paused".
type Status struct {
	Running bool   `json:"running"`
	Status  string `json:"status"`
}

// Status asks whether the guest runs.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var r Status
	err := c.Call(ctx, "query-status", nil, &r)
	return r, err
}

// CPU is one vCPU and the host thread that runs it.
type CPU struct {
	Index    int `json:"cpu-index"`
	ThreadID int `json:"thread-id"`
}

// CPUs asks for the vCPUs.
func (c *Client) CPUs(ctx context.Context) ([]CPU, error) {
	var r []CPU
	err := c.Call(ctx, "query-cpus-fast", nil, &r)
	return r, err
}

// IOThread is one iothread object, its host thread, and for how long it polls at most, in nanoseconds.
type IOThread struct {
	ID        string `json:"id"`
	ThreadID  int    `json:"thread-id"`
	PollMaxNS int64  `json:"poll-max-ns"`
}

// IOThreads asks for the iothreads.
func (c *Client) IOThreads(ctx context.Context) ([]IOThread, error) {
	var r []IOThread
	err := c.Call(ctx, "query-iothreads", nil, &r)
	return r, err
}

// Cache is how a block node is open. Of a node, Writeback is always true; of a disk, it is the write cache that
// the guest sees.
type Cache struct {
	Writeback bool `json:"writeback"`
	Direct    bool `json:"direct"`
	NoFlush   bool `json:"no-flush"`
}

// BlockNode is one node of QEMU's block graph. QEMU does not tell a node's aio here (5.2, 7.2 and 10.0 do not).
type BlockNode struct {
	NodeName     string `json:"node-name"`
	Driver       string `json:"drv"`
	File         string `json:"file"`
	ReadOnly     bool   `json:"ro"`
	DetectZeroes string `json:"detect_zeroes"`
	Cache        Cache  `json:"cache"`
}

// NamedBlockNodes asks for every node of the block graph.
func (c *Client) NamedBlockNodes(ctx context.Context) ([]BlockNode, error) {
	var r []BlockNode
	err := c.Call(ctx, "query-named-block-nodes", nil, &r)
	return r, err
}

// BlockDevice is one disk of the guest. QDev is the path or id of its device, Inserted its topmost node.
type BlockDevice struct {
	QDev     string     `json:"qdev"`
	IOStatus string     `json:"io-status"` // "ok", "failed" or "nospace"; "" when the device does not track it
	Inserted *BlockNode `json:"inserted"`
}

// Block asks for the disks of the guest.
func (c *Client) Block(ctx context.Context) ([]BlockDevice, error) {
	var r []BlockDevice
	err := c.Call(ctx, "query-block", nil, &r)
	return r, err
}

// Schema asks for the description of everything that this QEMU's QMP understands: a JSON array of entities.
func (c *Client) Schema(ctx context.Context) (json.RawMessage, error) {
	var r json.RawMessage
	err := c.Call(ctx, "query-qmp-schema", nil, &r)
	return r, err
}

// Property is one property of a device type.
type Property struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// DeviceProperties asks for the properties of a device type; an unknown type is an *Error of class DeviceNotFound.
func (c *Client) DeviceProperties(ctx context.Context, device string) ([]Property, error) {
	var r []Property
	err := c.Call(ctx, "device-list-properties", map[string]string{"typename": device}, &r)
	return r, err
}

// Types asks for the names of the concrete object types that implement an abstract one, such as "device" or "accel".
func (c *Client) Types(ctx context.Context, implements string) ([]string, error) {
	var r []struct {
		Name string `json:"name"`
	}
	if err := c.Call(ctx, "qom-list-types", map[string]string{"implements": implements}, &r); err != nil {
		return nil, err
	}
	names := make([]string, len(r))
	for i, t := range r {
		names[i] = t.Name
	}
	return names, nil
}

// Property reads one property of a device of the guest, by the id that it was given, into value.
func (c *Client) Property(ctx context.Context, id, property string, value any) error {
	args := map[string]string{"path": "/machine/peripheral/" + id, "property": property}
	return c.Call(ctx, "qom-get", args, value)
}

// Cont lets a guest run that was started paused or has stopped.
func (c *Client) Cont(ctx context.Context) error { return c.Call(ctx, "cont", nil, nil) }

// Powerdown presses the guest's power button.
func (c *Client) Powerdown(ctx context.Context) error {
	return c.Call(ctx, "system_powerdown", nil, nil)
}

// Quit ends QEMU at once. A connection that closes before the reply is what was asked for, not an error.
func (c *Client) Quit(ctx context.Context) error {
	err := c.Call(ctx, "quit", nil, nil)
	if errors.Is(err, ErrClosed) {
		return nil
	}
	return err
}
