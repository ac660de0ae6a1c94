package e2e

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/jsonout"
)

// Loads without a guest, and disks inside one without a device, are cells as any other: counted, judged and shown apart.
func TestLayers(t *testing.T) {
	h := newHost(t)
	file := filepath.Join(h.dir, "result.json")
	r := h.measure("layers", "--json", file)
	r.patience = 3 * patience
	r.wait(0)
	checkContract(t, file)
	d := read(t, file)
	for _, c := range d.Cells {
		checkLayer(t, d, c)
	}
	for name, want := range map[string]map[string]string{
		"plain":          {"engine": "libaio", "O_DIRECT": "on"},
		"bench":          {"engine": "qemu-img bench", "O_DIRECT": "on", "format": "raw"},
		"bench-image":    {"engine": "qemu-img bench", "O_DIRECT": "off", "format": "qcow2"},
		"bench-null":     {"engine": "qemu-img bench", "format": "null-co"},
		"nbd":            {"engine": "nbd", "server": "qemu-storage-daemon", "O_DIRECT": "on", "format": "qcow2"},
		"null-blk":       {"null_blk.queue_mode": "2", "null_blk.irqmode": "0", "null_blk.nr_devices": "2", "guest disk": "nullb0"},
		"null-blk-tuned": {"guest disk": "nullb1", "guest scheduler": "none", "guest read-ahead (KiB)": "0"},
	} {
		s := stackOf(t, d, name)
		if s.Unavailable != "" {
			continue
		}
		if len(s.Mismatch) > 0 || (s.Volume == nil) != s.Ceiling {
			t.Errorf("%s: not as intended: %q; its volume: %+v", name, s.Mismatch, s.Volume)
		}
		for key, value := range want {
			if s.Effective[key] != value {
				t.Errorf("%s: %s is %q, want %q", name, key, s.Effective[key], value)
			}
		}
	}
	checkLayerClasses(t, d)
	if d.Best != nil && d.Best.Stack != "guest" {
		t.Errorf("the best stack is %+v, want the only guest's disk", d.Best)
	}
	says(t, r.stdout.String(), "on the host: no guest", "ceiling: ", "a file on the host", "a disk of the guest's kernel")
	h.checkUndone()
}

// checkLayer holds a cell to what its program can do.
func checkLayer(t *testing.T, d jsonout.Document, c jsonout.Cell) {
	t.Helper()
	s := stackOf(t, d, c.Stack)
	bench := strings.HasPrefix(c.Stack, "bench")
	switch {
	case s.Unavailable != "":
		_, err := exec.LookPath("qemu-storage-daemon")
		engine := strings.Contains(s.Unavailable, "engine nbd")
		if !strings.HasPrefix(c.Stack, "nbd") || err == nil && !engine || s.Mend == "" {
			t.Errorf("%s is unavailable: %s (%s)", c.Stack, s.Unavailable, s.Mend)
		}
		return
	case bench && c.Workload == "mixed":
		if c.Status != record.Unavailable || !strings.Contains(c.Reason, "no mix of reads and writes") {
			t.Errorf("%s, %s is %s: %s", c.Stack, c.Workload, c.Status, c.Reason)
		}
		return
	}
	checkStatus(t, d, c)
	if c.Status != record.OK {
		return
	}
	_, mean := c.Metrics["clat_mean_ns"]
	_, p99 := c.Metrics["clat_p99_ns"]
	if synced := bench && c.Workload == "sync"; p99 == bench || mean == synced {
		t.Errorf("%s, %s: a mean latency: %v, a percentile: %v", c.Stack, c.Workload, mean, p99)
	}
	direct := slices.Contains([]string{"plain", "bench", "nbd", "nbd-sync"}, c.Stack)
	if derived(d, c) && direct && (c.RAMShare == nil || *c.RAMShare > 0.2) {
		t.Errorf("%s, %s: of its bytes %v came from RAM", c.Stack, c.Workload, c.RAMShare)
	}
}

// checkLayerClasses compares the classes of what ends at one device.
func checkLayerClasses(t *testing.T, d jsonout.Document) {
	t.Helper()
	host := stackOf(t, d, "host").Durability
	for _, name := range []string{"plain", "bench", "bench-image", "nbd", "nbd-sync"} {
		if s := stackOf(t, d, name); s.Unavailable == "" && s.Durability != host {
			t.Errorf("%s is %s (%s), and the host is %s", name, s.Durability, s.DurabilityWhy, host)
		}
	}
	for _, name := range []string{"bench-unsafe", "bench-null", "null-blk", "null-blk-tuned"} {
		if s := stackOf(t, d, name); s.Durability != record.Unsafe {
			t.Errorf("%s is %s (%s)", name, s.Durability, s.DurabilityWhy)
		}
	}
}

// An experiment without a guest starts none.
func TestHostOnly(t *testing.T) {
	h := newHost(t)
	file := filepath.Join(h.dir, "result.json")
	r := h.measure("host-only", "--json", file)
	r.wait(0)
	d := read(t, file)
	if d.Run.Status != record.Complete || len(d.Host.Boots) != 2 || d.Host.GuestCPUs != 0 || d.Host.Accelerator != "" {
		t.Errorf("the run is %+v on %+v", d.Run, d.Host)
	}
	for _, c := range d.Cells {
		if checkStatus(t, d, c); c.Status == record.OK && c.Rounds != 4 {
			t.Errorf("%s has %d rounds, want two in each of two boots", c.Stack, c.Rounds)
		}
	}
	for _, b := range d.Host.Boots {
		if len(b.Args) > 0 {
			t.Errorf("a QEMU was started: %q", b.Args)
		}
	}
	if d.Best != nil {
		t.Errorf("%+v is called the best stack, and there is no guest", d.Best)
	}
	says(t, r.stderr.String(), "no guest, stacks on the host: 2")
	h.checkUndone()
}
