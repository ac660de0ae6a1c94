package rig

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/moby/sys/mountinfo"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
)

// ledger is a journal that only counts.
type ledger struct{ open int }

func (l *ledger) Add(a revert.Act) (revert.Entry, error) { l.open++; return revert.Entry{Act: a}, nil }
func (l *ledger) Forget(revert.Entry) error              { l.open--; return nil }

// fakePool is a folder in the place of sysfs, of a kernel that gives no more than most pages.
func fakePool(t *testing.T, total, free, promised, most int64) pages {
	t.Helper()
	p := pages{dir: t.TempDir(), size: 2 << 20}
	p.write = func(file, text string) error {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return err
		}
		return os.WriteFile(file, []byte(strconv.FormatInt(min(n, most), 10)+"\n"), 0o600)
	}
	for name, n := range map[string]int64{"nr_hugepages": total, "free_hugepages": free, "resv_hugepages": promised} {
		if err := os.WriteFile(p.file(name), []byte(strconv.FormatInt(n, 10)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func TestReserve(t *testing.T) {
	for name, tt := range map[string]struct {
		total, free, promised, most int64
		want                        int64 // pages of the pool while 100 are reserved
		says                        string
	}{
		"none yet":               {most: 1000, want: 100},
		"all free":               {total: 128, free: 128, most: 1000, want: 128},
		"some free":              {total: 128, free: 30, most: 1000, want: 198},
		"promised ones are none": {total: 128, free: 128, promised: 100, most: 1000, want: 200},
		"the kernel gives fewer": {total: 10, free: 10, most: 60, says: "takes 100 huge pages of 2 MiB, and the kernel gave 50 of the 90 that were not free yet"},
		"the kernel gives none":  {most: 0, says: "the kernel gave 0 of the 100"},
	} {
		t.Run(name, func(t *testing.T) {
			p := fakePool(t, tt.total, tt.free, tt.promised, tt.most)
			var l ledger
			giveBack, err := p.reserve(&l, 100)
			if tt.says != "" {
				if errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("got %v, want %q", err, tt.says)
				}
			} else {
				if err != nil {
					t.Fatal(err)
				}
				if n, err := p.count("nr_hugepages"); err != nil || n != tt.want {
					t.Errorf("%d pages, %v; want %d", n, err, tt.want)
				}
				if err := giveBack(); err != nil {
					t.Error(err)
				}
			}
			if n, err := p.count("nr_hugepages"); err != nil || n != tt.total || l.open != 0 {
				t.Errorf("afterwards %d pages, %d acts in the journal, %v; want %d and none", n, l.open, err, tt.total)
			}
		})
	}
	if _, err := (pages{dir: t.TempDir(), size: 1 << 30}).reserve(&ledger{}, 1); err == nil || !strings.Contains(err.Error(), "no huge pages of 1 GiB") {
		t.Errorf("a size that the kernel does not have: %v", err)
	}
}

// TestGiveBackSparesOthers: pages that others added meanwhile stay.
func TestGiveBackSparesOthers(t *testing.T) {
	p := fakePool(t, 0, 0, 0, 1000)
	giveBack, err := p.reserve(&ledger{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.set(17); err != nil {
		t.Fatal(err)
	}
	if err := giveBack(); err != nil {
		t.Fatal(err)
	}
	if n, err := p.count("nr_hugepages"); err != nil || n != 7 {
		t.Errorf("%d pages are left, %v; want the 7 of others", n, err)
	}
}

func TestHasPageSize(t *testing.T) {
	for options, want := range map[string]bool{"rw,pagesize=2M": true, "pagesize=2M,size=1G": true, "rw,pagesize=1024M": false, "rw": false, "pagesize=x": false} {
		if got := hasPageSize(options, 2<<20); got != want {
			t.Errorf("%q: %v", options, got)
		}
	}
	if !hasPageSize("rw,relatime,pagesize=1024M", 1<<30) {
		t.Error("1024M is not taken for 1 GiB")
	}
}

// TestRealPages boots guests on huge pages that are reserved for them, and given back.
func TestRealPages(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("reserving huge pages needs root")
	}
	r := realRig(t, stacks[:1])
	for name, g := range map[string]spec.Guest{
		"2M in a file":  {CPUs: 2, Memory: 256 << 20, Hugepages: 2 << 20, MemoryBackend: "file"},
		"1G in a memfd": {CPUs: 1, Memory: 1 << 30, Hugepages: 1 << 30, MemoryBackend: "memfd"},
	} {
		t.Run(name, func(t *testing.T) {
			p := pool(g.Hugepages)
			before, err := p.count("nr_hugepages")
			if err != nil {
				t.Skip(err)
			}
			r.Plan.Groups[0].Guest = g
			s := boot(t, r)
			if why := s.absent["none"].why; strings.Contains(why, "the kernel gave") {
				t.Skip(why)
			}
			found := s.stacks[len(s.stacks)-1]
			got := found.Effective["memory backend"] + " " + found.Effective["memory page size"] + " " + found.Effective["vCPUs"]
			want := g.MemoryBackend + " " + map[int64]string{2 << 20: "2 MiB", 1 << 30: "1 GiB"}[g.Hugepages] + " " + strconv.Itoa(g.CPUs)
			if got != want || len(found.Mismatch) > 0 {
				t.Errorf("memory and vCPUs: %q, want %q; mismatch %q", got, want, found.Mismatch)
			}
			during, err := p.count("nr_hugepages")
			if err != nil || during < g.Memory/g.Hugepages {
				t.Errorf("%d pages while the guest runs, %v", during, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if after, err := p.count("nr_hugepages"); err != nil || g.Hugepages == 1<<30 && after != before || after >= during && during > before {
				t.Errorf("%d pages before, %d during, %d after the boot, %v", before, during, after, err) // others may use those of 2 MiB
			}
			if mounted, err := mountinfo.Mounted(filepath.Join(r.Dir, "huge-2M")); err == nil && mounted {
				t.Error("the file system of huge pages is still mounted")
			}
		})
	}
}

// idle is a server that has nothing to do.
type idle struct{}

func (idle) Err() error                               { return nil }
func (idle) Pin(context.Context, proc.Policy) error   { return nil }
func (idle) Serving(context.Context) (Serving, error) { return Serving{}, nil }
func (idle) Close() error                             { return nil }

// A host that cannot back a guest's memory as asked offers none of its stacks, and goes on.
func TestNoMemory(t *testing.T) {
	s := New(Config{Note: func(string) {}}).session(plan.Group{Guest: spec.Guest{Memory: 1 << 60, MemoryBackend: "file"}})
	s.Serve = func(context.Context, cmdline.Disk, spec.Guest) (Server, error) { return idle{}, nil }
	s.intended = []intended{{stack: spec.Stack{Name: "served", Bus: "vhost-user-blk"}}, {stack: spec.Stack{Name: "plain", Bus: "virtio-blk"}}}
	if err := s.start(t.Context()); err != nil || s.machine != nil || len(s.intended) > 0 {
		t.Fatalf("%v, a machine: %v, still intended %+v", err, s.machine != nil, s.intended)
	}
	if a := s.absent["served"]; !strings.Contains(a.why, "/dev/shm has room for") || !strings.Contains(a.mend, "memory_backend: memfd") || a != s.absent["plain"] {
		t.Errorf("absent: %+v", s.absent)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
