package hostenv

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/sys"
)

// mirrored is what zpool 2.1 prints of a pool with a log, a cache and a spare, one of whose disks is being replaced.
const mirrored = `tank
	mirror-0	9.50G	440K	9.50G	-	-	0%	0.08%	-	ONLINE
	/dev/sda1	10G	-	-	-	-	-	-	-	ONLINE
	replacing-1	-	-	-	-	-	-	-	-	ONLINE
	/dev/sdb1	10G	-	-	-	-	-	-	-	ONLINE
	/dev/sdc1	10G	-	-	-	-	-	-	-	ONLINE
	/srv/vdev file	1G	440K	1G	-	-	0%	0.08%	-	ONLINE
logs              -      -      -        -         -      -      -      -  -
	/dev/sdd1	1014M	0	960M	-	-	0%	0.00%	-	ONLINE
cache             -      -      -        -         -      -      -      -  -
	/dev/loop1	128M	48K	123M	-	-	0%	0.03%	-	ONLINE
spare             -      -      -        -         -      -      -      -  -
	/dev/sde1	10G	-	-	-	-	-	-	-	AVAIL
`

// answers is a runner that says one thing, whatever is run.
type answers struct {
	text string
	err  error
	argv []string
}

func (a *answers) Run(_ context.Context, c sys.Command) ([]byte, error) {
	a.argv = c.Argv
	return []byte(a.text), a.err
}

func (*answers) LookPath(name string) (string, error) { return name, nil }

func TestPoolDevices(t *testing.T) {
	said := &answers{text: mirrored}
	got, err := PoolDevices(t.Context(), said, "tank")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"/dev/sda1", "/dev/sdb1", "/dev/sdc1", "/srv/vdev file", "/dev/sdd1", "/dev/loop1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if line := strings.Join(said.argv, " "); line != "zpool list -v -H -P -L -o name tank" {
		t.Errorf("asked by %q", line)
	}
	if _, err := PoolDevices(t.Context(), &answers{text: "tank\n"}, "tank"); err == nil {
		t.Error("a pool on nothing")
	}
	failed := errors.New("no such pool")
	if _, err := PoolDevices(t.Context(), &answers{err: failed}, "tank"); !errors.Is(err, failed) {
		t.Errorf("zpool failed: %v", err)
	}
}

func TestZvolNameOfWhatIsNone(t *testing.T) {
	for _, path := range []string{"/dev/null", "/dev/nowhere"} {
		if name, err := ZvolName(path); err == nil {
			t.Errorf("%s is the zvol %q", path, name)
		}
	}
}

func FuzzVdevs(f *testing.F) {
	f.Add(mirrored)
	f.Add("tank\n\t\n/dev/sda\n\t/")
	f.Fuzz(func(t *testing.T, text string) {
		for _, path := range parseVdevs(text) {
			if path == "" || path[0] != '/' || !strings.Contains(text, path) {
				t.Errorf("%q is the path of no device in %q", path, text)
			}
		}
	})
}
