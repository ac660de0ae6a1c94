package xen

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/sys"
	"github.com/iotax/iotax/internal/xen/xlcfg"
)

// DiskFacts is what really serves one disk of a domain, as xenstore and dom0's kernel tell.
type DiskFacts struct {
	Backend    string // "phy" (blkback), "qdisk" (a QEMU beside the domain) or "ide" (the QEMU that emulates it)
	Target     string // path that the back end has
	Connected  bool   // front end and back end have met
	FlushCache bool   // the back end takes flushes
	Discard    bool
	Persistent bool  // grants stay mapped from one I/O to the next, and data is copied
	Queues     int   // rings in use
	RingPages  int   // pages of each
	LoopDirect *bool // phy on a file: the loop device below reads and writes past dom0's page cache; nil where there is none
	ODirect    *bool // QEMU has it open with O_DIRECT; nil where no QEMU serves it
}

// Disks asks what serves each disk, by its VDev. The front ends must have their drivers.
func (d *Domain) Disks(ctx context.Context) (map[string]DiskFacts, error) {
	front, err := d.list(ctx, "/local/domain/"+d.id+"/device/vbd")
	if err != nil {
		return nil, err
	}
	found := map[string]DiskFacts{}
	for _, number := range front.children() {
		f := front.sub(number)
		back, err := d.list(ctx, f["backend"])
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(d.cfg.Disks, func(x xlcfg.Disk) bool { return x.VDev == back["dev"] })
		if i < 0 {
			continue // not ours: nobody but a person can have attached it
		}
		facts := diskFacts(f, back)
		if facts.LoopDirect, err = loopDirect("/", back["physical-device"]); err != nil {
			return nil, err
		}
		if d.cfg.Disks[i].Emulated() {
			facts.Backend = "ide"
		}
		if facts.Backend != "phy" {
			if facts.ODirect, err = d.openDirect(ctx, d.cfg.Disks[i].Path); err != nil {
				return nil, err
			}
		}
		found[back["dev"]] = facts
	}
	return found, nil
}

// diskFacts reads the two sides of a disk in xenstore (the protocol is in Xen's public/io/blkif.h).
func diskFacts(front, back tree) DiskFacts {
	number := func(text string, otherwise int) int {
		if n, err := strconv.Atoi(text); err == nil {
			return n
		}
		return otherwise
	}
	const connected = "4" // XenbusStateConnected
	f := DiskFacts{
		Backend: "phy", Target: back["params"],
		Connected:  front["state"] == connected && back["state"] == connected,
		FlushCache: back["feature-flush-cache"] == "1", Discard: back["feature-discard"] == "1",
		Persistent: front["feature-persistent"] == "1" && back["feature-persistent"] == "1",
		Queues:     number(front["multi-queue-num-queues"], 1), RingPages: 1 << number(front["ring-page-order"], 0),
	}
	if back["type"] == "qdisk" {
		f.Backend = "qdisk"
		_, f.Target, _ = strings.Cut(f.Target, ":") // aio:PATH
	}
	return f
}

// Effective lists the facts for a reader.
func (f DiskFacts) Effective() map[string]string {
	m := map[string]string{"backend": f.Backend, "backend target": f.Target}
	onOff := func(key string, b bool) {
		m[key] = "off"
		if b {
			m[key] = "on"
		}
	}
	if f.LoopDirect != nil {
		onOff("loop direct I/O", *f.LoopDirect)
	}
	if f.ODirect != nil {
		onOff("O_DIRECT", *f.ODirect)
	}
	if f.Backend == "ide" { // the paravirtual side lies idle
		return m
	}
	onOff("feature-flush-cache", f.FlushCache)
	onOff("feature-discard", f.Discard)
	onOff("feature-persistent", f.Persistent)
	m["queues"], m["ring pages"] = strconv.Itoa(f.Queues), strconv.Itoa(f.RingPages)
	return m
}

// Mismatch says, in words, where what serves a disk is not what was asked for.
func (f DiskFacts) Mismatch(asked xlcfg.Disk) []string {
	var out []string
	differ := func(wrong bool, format string, args ...any) {
		if wrong {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	differ(f.Target != asked.Path, "%s was asked for, but the back end has %s", asked.Path, f.Target)
	if !asked.Emulated() {
		differ(f.Backend != asked.Backend, "backend %s was asked for, but %s serves the disk", asked.Backend, f.Backend)
		differ(!f.Connected, "the disk's front end and back end have not met")
		differ(!f.FlushCache, "the back end takes no flushes: the guest has no way to make its writes durable")
		differ(f.ODirect != nil && *f.ODirect != asked.DirectIOSafe, "direct-io-safe %v was asked for, but O_DIRECT is %v on the open file",
			asked.DirectIOSafe, f.ODirect != nil && *f.ODirect)
	}
	return out
}

// unserved is the name of a disk whose back end is not there yet, given the back ends of one kind and domain.
func unserved(backends tree) string {
	for _, number := range backends.children() {
		const initialising = "1" // XenbusStateInitialising; InitWait and what follows are higher
		if b := backends.sub(number); b["state"] <= initialising {
			return b["dev"]
		}
	}
	return ""
}

// loopDirect looks whether a block device ("7:1", both in hexadecimal, as Xen's scripts write it) is a loop
// device, and one with direct I/O.
func loopDirect(root, device string) (*bool, error) {
	const loopMajor = "7"
	major, minor, ok := strings.Cut(device, ":")
	if !ok || major != loopMajor {
		return nil, nil
	}
	n, err := strconv.ParseInt(minor, 16, 32)
	if err != nil {
		return nil, fmt.Errorf("physical-device %q: %w", device, err)
	}
	text, err := os.ReadFile(filepath.Join(root, "sys/dev/block", fmt.Sprintf("%s:%d", loopMajor, n), "loop/dio"))
	if err != nil {
		return nil, err
	}
	direct := strings.TrimSpace(string(text)) == "1"
	return &direct, nil
}

// openDirect looks how the domain's QEMU has a file open.
func (d *Domain) openDirect(ctx context.Context, path string) (*bool, error) {
	out, err := d.run(ctx, "xenstore-read", "/local/domain/"+d.id+"/image/device-model-pid")
	if err != nil {
		return nil, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(out))
	if err != nil {
		return nil, fmt.Errorf("device-model-pid: %w", err)
	}
	files, err := proc.Effective(pid, path)
	if err != nil {
		return nil, err
	}
	direct := !slices.ContainsFunc(files, func(f proc.File) bool { return !f.Direct })
	return &direct, nil
}

// tree is a part of xenstore: values by their paths below its top.
type tree map[string]string

// list reads the part of xenstore below a path.
func (d *Domain) list(ctx context.Context, path string) (tree, error) {
	out, err := d.c.Runner.Run(ctx, sys.Command{Argv: []string{"xenstore-ls", "-f", path}})
	if err != nil {
		return nil, err
	}
	return parseTree(string(out), path), nil
}

// parseTree reads what `xenstore-ls -f` prints: lines such as `/a/b = "value"`.
func parseTree(text, top string) tree {
	t := tree{}
	for line := range strings.Lines(text) {
		path, value, ok := strings.Cut(strings.TrimSpace(line), ` = "`)
		if rest, below := strings.CutPrefix(path, top+"/"); ok && below {
			t[rest] = strings.TrimSuffix(value, `"`)
		}
	}
	return t
}

// sub is the part below one child.
func (t tree) sub(child string) tree {
	s := tree{}
	for path, value := range t {
		if rest, ok := strings.CutPrefix(path, child+"/"); ok {
			s[rest] = value
		}
	}
	return s
}

// children are the names on the first level, in order.
func (t tree) children() []string {
	var names []string
	for path := range t {
		if !strings.Contains(path, "/") {
			names = append(names, path)
		}
	}
	slices.Sort(names)
	return names
}
