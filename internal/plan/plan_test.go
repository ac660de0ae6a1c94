package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/spec"
)

func preset(t *testing.T, name string) spec.Experiment {
	t.Helper()
	e, err := spec.Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func make1(t *testing.T, e spec.Experiment, seed uint64) Plan {
	t.Helper()
	p, err := Make(e, seed)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// disks makes n stacks of a bus; wish is the machine that they ask for.
func disks(bus, wish string, n int) []spec.Stack {
	var s []spec.Stack
	for i := range n {
		s = append(s, spec.Stack{Name: fmt.Sprintf("%s%s-%d", bus, wish, i), Bus: bus, Machine: wish})
	}
	return s
}

func with(stacks []spec.Stack, change func(*spec.Stack)) []spec.Stack {
	for i := range stacks {
		change(&stacks[i])
	}
	return stacks
}

// domain gives the disks to a domain of Xen.
func domain(kind string, stacks []spec.Stack) []spec.Stack {
	return with(stacks, func(s *spec.Stack) { s.Hypervisor, s.Machine = kind, "" })
}

func TestMakeRefusesWhatIsInvalid(t *testing.T) {
	e := preset(t, "quick")
	e.Stacks = nil
	if _, err := Make(e, 1); errkind.CodeOf(err) != errkind.Usage {
		t.Errorf("error %v; want a user's fault", err)
	}
}

func TestGroups(t *testing.T) {
	for name, c := range map[string]struct {
		stacks [][]spec.Stack
		want   string // machine and number of stacks of each group
	}{
		"one":                  {[][]spec.Stack{disks("virtio-blk", "", 1)}, "q35 1"},
		"all buses, no ide":    {[][]spec.Stack{disks("virtio-blk", "", 2), disks("nvme", "", 2), disks("sata", "", 2)}, "q35 6"},
		"ide makes it a pc":    {[][]spec.Stack{disks("virtio-blk", "", 3), disks("ide", "", 1), disks("sata", "", 7)}, "pc 11"},
		"pc and q35":           {[][]spec.Stack{disks("virtio-blk", "", 2), disks("nvme", "pc", 1), disks("nvme", "q35", 2)}, "pc 3, q35 2"},
		"five ide":             {[][]spec.Stack{disks("ide", "", 5), disks("nvme", "", 1)}, "pc 5, pc 1"},
		"slots of q35":         {[][]spec.Stack{disks("nvme", "", 29)}, "q35 28, q35 1"},
		"ahci inside q35":      {[][]spec.Stack{disks("sata", "", 6), disks("nvme", "", 28)}, "q35 34"},
		"second ahci":          {[][]spec.Stack{disks("nvme", "", 28), disks("sata", "", 7)}, "q35 34, q35 1"},
		"ahci takes a pc slot": {[][]spec.Stack{disks("sata", "pc", 1), disks("nvme", "pc", 28)}, "pc 28, pc 1"},
		"shared controller":    {[][]spec.Stack{disks("nvme", "", 27), disks("virtio-scsi", "", 40)}, "q35 67"},
		"single controllers":   {[][]spec.Stack{disks("virtio-scsi-single", "", 30)}, "q35 28, q35 2"},
		"no hardware":          {[][]spec.Stack{disks("null_blk", "", 5), disks("nvme", "", 28)}, "q35 33"},
		"beside a guest":       {[][]spec.Stack{disks("host", "", 40), disks("nvme", "", 27), disks("nvme", "pc", 1)}, "pc 68"},
		"beside the first":     {[][]spec.Stack{disks("nvme", "q35", 1), disks("host", "", 2), disks("nvme", "pc", 1)}, "q35 3, pc 1"},
		"all on the host":      {[][]spec.Stack{disks("host", "", 3)}, "none 3"},
		"vhost-user":           {[][]spec.Stack{disks("vhost-user-blk", "", 20), disks("vhost-user-scsi", "", 9), disks("nvme", "", 28)}, "q35 28, q35 1, q35 28"},
		"vCPUs":                {[][]spec.Stack{disks("nvme", "", 1), with(disks("nvme", "q35", 1), func(s *spec.Stack) { s.CPUs = 2 }), with(disks("sata", "", 2), func(s *spec.Stack) { s.CPUs = 4 })}, "q35 2, q35 2"},
		"a domain's disks":     {[][]spec.Stack{domain("xen-pv", disks("blkfront", "", 17)), disks("nvme", "", 1)}, "xen-pv 16, xen-pv 1, q35 1"},
		"domain's ide":         {[][]spec.Stack{domain("xen-hvm", disks("ide", "", 5)), domain("xen-hvm", disks("blkfront", "", 13)), domain("xen-pvh", disks("blkfront", "pvh", 1))}, "xen-hvm 4, xen-hvm 1, xen-hvm 13, xen-pvh 1"},
	} {
		stacks := slices.Concat(c.stacks...)
		groups := group(spec.Experiment{Guest: spec.Guest{CPUs: 2}, Stacks: stacks})
		var got []string
		seen := map[string]bool{}
		for _, g := range groups {
			got = append(got, fmt.Sprint(g.Machine, " ", len(g.Stacks)))
			last := -1
			for _, s := range g.Stacks {
				i := slices.IndexFunc(stacks, func(o spec.Stack) bool { return o.Name == s.Name })
				if seen[s.Name] || i < last {
					t.Errorf("%s: stack %s stands twice or out of order", name, s.Name)
				}
				seen[s.Name], last = true, i
			}
		}
		if g := strings.Join(got, ", "); g != c.want || len(seen) != len(stacks) {
			t.Errorf("%s: groups %q with %d of %d stacks, want %q", name, g, len(seen), len(stacks), c.want)
		}
	}
}

// TestGuests holds which settings of stacks make another guest, and which words mean the same one.
func TestGuests(t *testing.T) {
	usual := spec.Guest{CPUs: 2, Memory: 1 << 30, MemoryBackend: "ram", Pinning: "on"}
	changed := func(change func(*spec.Guest)) spec.Guest { g := usual; change(&g); return g }
	for name, c := range map[string]struct {
		stack spec.Stack
		want  spec.Guest
	}{
		"usual":            {spec.Stack{Bus: "nvme"}, usual},
		"the same in full": {spec.Stack{Bus: "nvme", CPUs: 2, MemoryBackend: "ram", Pinning: "on"}, usual},
		"vCPUs":            {spec.Stack{Bus: "nvme", CPUs: 3}, changed(func(g *spec.Guest) { g.CPUs = 3 })},
		"not pinned":       {spec.Stack{Bus: "nvme", Pinning: "off"}, changed(func(g *spec.Guest) { g.Pinning = "off" })},
		"huge pages":       {spec.Stack{Bus: "nvme", Hugepages: 2 << 20}, changed(func(g *spec.Guest) { g.Hugepages, g.MemoryBackend = 2<<20, "memfd" })},
		"huge in a file": {spec.Stack{Bus: "nvme", Hugepages: 1 << 30, MemoryBackend: "file"}, changed(func(g *spec.Guest) {
			g.Hugepages, g.MemoryBackend = 1<<30, "file"
		})},
		"shared with a server": {spec.Stack{Bus: "vhost-user-blk"}, changed(func(g *spec.Guest) { g.MemoryBackend = "memfd" })},
		"as another wishes":    {spec.Stack{Bus: "nvme", MemoryBackend: "memfd"}, changed(func(g *spec.Guest) { g.MemoryBackend = "memfd" })},
		"xen": {spec.Stack{Bus: "blkfront", Hypervisor: "xen-pv"}, changed(func(g *spec.Guest) {
			g.MemoryBackend, g.Hypervisor = "", "xen-pv"
		})},
	} {
		c.stack.Name = "s"
		groups := group(spec.Experiment{Guest: spec.Guest{CPUs: 2, Memory: 1 << 30}, Stacks: []spec.Stack{c.stack}})
		if diff := cmp.Diff(c.want, groups[0].Guest); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestBoots(t *testing.T) {
	e := preset(t, "quick")
	for _, c := range []struct {
		stacks []spec.Stack
		boots  int
		want   []int // group of each boot
	}{
		{disks("nvme", "", 2), 1, []int{0}},
		{disks("nvme", "", 2), 3, []int{0, 0, 0}},
		{slices.Concat(disks("nvme", "pc", 1), disks("nvme", "q35", 5)), 1, []int{0, 1, 1, 0}},
		{slices.Concat(disks("nvme", "pc", 1), disks("nvme", "q35", 5)), 3, []int{0, 1, 1, 0, 0, 1}},
		{disks("ide", "", 9), 2, []int{0, 1, 2, 2, 1, 0}},
	} {
		e.Stacks, e.Boots, e.Budget = c.stacks, c.boots, 3*time.Minute+7
		p := make1(t, e, 1)
		var got []int
		var sum time.Duration
		for i, b := range p.Boots {
			got, sum = append(got, b.Group), sum+b.Budget
			share := e.Budget.Seconds() * float64(p.cells(b.Group)) / float64(allCells(p))
			if d := b.Budget.Seconds() - share; b.Index != i || d > 1e-6 || d < -1e-6 {
				t.Errorf("boot %d is %+v; want a budget of %v s", i, b, share)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" || sum != e.Budget {
			t.Errorf("%d boots of %d stacks: budgets sum to %v of %v, groups:\n%s", c.boots, len(c.stacks), sum, e.Budget, diff)
		}
		if n := slices.Max(c.want); p.AllPrimed() != n { // the first pass visits the groups in their order
			t.Errorf("groups %v are all primed in boot %d, want %d", c.want, p.AllPrimed(), n)
		}
	}
}

func allCells(p Plan) (n int) {
	for _, b := range p.Boots {
		n += p.cells(b.Group)
	}
	return n
}

// TestGolden holds the promise that a seed means the same order everywhere and for ever, and the estimates.
func TestGolden(t *testing.T) {
	var out strings.Builder
	for _, name := range []string{"default", "quick"} {
		p := make1(t, preset(t, name), 41)
		text, err := json.MarshalIndent(p.Describe(), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s\n", text)
		for _, w := range p.Round(0, 1, 1, nil) {
			fmt.Fprintf(&out, "%s %s %d\n", w.Workload, w.Stack, w.Seed)
		}
	}
	const file = "testdata/presets.want"
	golden.Equal(t, file, out.String())
}

// TestPresetsKeepTheirPromise checks the estimates of the presets against what they are advertised to take.
func TestPresetsKeepTheirPromise(t *testing.T) {
	for name, most := range map[string]time.Duration{"default": 15 * time.Minute, "layers": 10*time.Minute + 30*time.Second, "quick": 4 * time.Minute} {
		p := make1(t, preset(t, name), 1)
		d := p.Describe()
		if len(d.Groups) != 1 || d.Total > most || d.Rounds < 4.5 {
			t.Errorf("%s: %d groups, %v, %.1f rounds; want one group, at most %v, about 5 rounds", name, len(d.Groups), d.Total, d.Rounds, most)
		}
	}
}

func TestDescribe(t *testing.T) {
	e := preset(t, "quick") // 4 workloads
	e.Stacks = e.Stacks[:6] // one without a disk, one qcow2
	e.Size, e.Runtime, e.Ramp, e.Boots, e.MinRounds, e.MaxRounds = 64<<20, 650*time.Millisecond, 0, 2, 3, 3
	e.Budget = 2 * (BootTime + 32*650*time.Millisecond + 64*time.Second) // priming windows take 300 + 350 ms
	d := make1(t, e, 5).Describe()
	got := fmt.Sprint(d.Cells, d.Window, d.Groups[0].Windows, d.Groups[0].Round, d.Groups[0].Priming, d.Groups[0].Boots, d.Boots[1].Rounds, d.Rounds, d.Windows,
		d.Volumes, d.Fill>>20, d.Disk-d.Fill-1<<20, d.Measure, len(d.Warnings))
	if want := fmt.Sprint(32, time.Second, 32, 32*time.Second, 20800*time.Millisecond, 2, 2, 4, 2*32*3, 6, 6*64, 16<<10, e.Budget, 0); got != want {
		t.Errorf("described as\n%s, want\n%s", got, want)
	}
	e.MaxRounds = 2
	e.MinRounds = 2
	e.Budget *= 10
	if d := make1(t, e, 5).Describe(); d.Rounds != 4 || d.Measure >= e.Budget/5 {
		t.Errorf("a run that max_rounds ends takes %v of %v for %v rounds", d.Measure, d.Budget, d.Rounds)
	}
	e.Stacks[0].CPUs, e.Stacks[1].Pinning, e.Stacks[2].Snapshot = 6, "off", "fresh"
	if more := make1(t, e, 5).Describe(); len(more.Groups) != 3 || more.GuestCPUs != 6 || more.GuestMemory != e.Guest.Memory || len(more.Boots) != 6 || more.Disk-d.Disk != e.Size {
		t.Errorf("three guests are described as %+v", more)
	}
	e.Stacks[0].CPUs, e.Stacks[1].Pinning, e.Stacks[2].Snapshot = 0, "", ""
	e.Budget, e.MinRounds, e.MaxRounds = 60*time.Second, 5, 30
	if d := make1(t, e, 5).Describe(); len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "fewer than min_rounds, 5") {
		t.Errorf("warnings %q; want one about rounds", d.Warnings)
	}
}

// Where all stacks are on the host, no guest takes memory or time to start.
func TestDescribeWithoutGuest(t *testing.T) {
	e := preset(t, "quick")
	e.Stacks = []spec.Stack{{Name: "bench", Bus: "host", Daemon: "qemu-img", Format: "qcow2"}, {Name: "plain", Bus: "host"}}
	e.Boots, e.MaxRounds = 1, 5
	d := make1(t, e, 5).Describe()
	round, priming := d.Groups[0].Round, d.Groups[0].Priming
	if d.GuestMemory != 0 || d.GuestCPUs != e.Guest.CPUs || d.Groups[0].Machine != NoMachine || d.Boots[0].Machine != NoMachine || d.Measure != priming+5*round {
		t.Errorf("described as %+v", d)
	}
	if d.Cells != 4*len(e.Workloads) || d.Volumes != 3 || d.Disk <= d.Fill {
		t.Errorf("%d cells, %d volumes, %d bytes for %d", d.Cells, d.Volumes, d.Disk, d.Fill)
	}
}
