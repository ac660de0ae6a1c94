package revert

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestZFSRefusesWhatIsNotOurs(t *testing.T) {
	j := open(t, t.TempDir(), "r")
	for _, a := range []Act{
		Zpool(""), Zpool("tank"), Zpool("iotax-r"), Zpool("iotax-other-a"), Zpool("iotax-r-a/b"), Zpool("iotax-r-a@b"), Zpool("-f"),
		Dataset(""), Dataset("tank"), Dataset("tank/vm"), Dataset("tank/iotax-r"), Dataset("tank/iotax-other-a"), Dataset("tank/iotax-r-a/b"),
		Dataset("tank/iotax-r-a@b"), Dataset("iotax-r-a"), Dataset("/iotax-r-a"), Dataset("-R/iotax-r-a"),
	} {
		if _, err := j.Add(a); err == nil {
			t.Errorf("Add took %s", a)
		}
		if err := undo(t.Context(), origin{Run: "r"}, Entry{Act: a}); err == nil {
			t.Errorf("undo took %s", a)
		}
	}
	for _, a := range []Act{Zpool(PoolName("r", "a")), Dataset(DatasetName("r", "tank", "a")), Dataset(DatasetName("r", "tank/vm", "a"))} {
		if _, err := j.Add(a); err != nil {
			t.Error(err)
		}
	}
}

// fakeZFS puts programs on PATH that note how they are called. mark is what they say of who made an object; each line
// of destroys is what the next attempt to destroy it complains of, "" for none; pool is what they complain of
// when asked for the pool.
func fakeZFS(t *testing.T, mark, destroys, pool string) (calls func() []string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"mark": mark, "destroys": destroys, "pool": pool, "log": ""} {
		write(t, filepath.Join(dir, name), text)
	}
	program := `#!/bin/sh
cd ` + dir + `
echo "${0##*/} $*" >>log
case $1 in
get) said=$(cat mark) ;;
list) said=$(cat pool) ;;
destroy) said=$(head -n 1 destroys) && sed -i 1d destroys ;;
esac
case $said in
cannot*) echo "$said" >&2; exit 1 ;;
*) echo "$said" ;;
esac
`
	for _, name := range []string{"zfs", "zpool"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(program), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return func() []string {
		text, err := os.ReadFile(filepath.Join(dir, "log"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
}

func TestDatasetIsDestroyedOnlyWhenMarked(t *testing.T) {
	const (
		ask     = "zfs get -H -o value,source org.iotax:run tank/iotax-r-a"
		destroy = "zfs destroy -r tank/iotax-r-a"
		list    = "zpool list -H -o name tank"
		gone    = "cannot open 'tank/iotax-r-a': dataset does not exist"
		busy    = "cannot destroy 'tank/iotax-r-a': dataset is busy"
	)
	for name, tt := range map[string]struct {
		mark, destroys, pool string
		calls                []string
		fails                string
	}{
		"ours":                {"r\tlocal", "", "", []string{ask, destroy}, ""},
		"of another run":      {"other\tlocal", "", "", []string{ask}, ""},
		"unmarked":            {"-\t-", "", "", []string{ask}, ""},
		"in what is ours":     {"r\tinherited from tank", "", "", []string{ask}, ""},
		"never made":          {gone, "", "tank", []string{ask, list}, ""},
		"pool not imported":   {gone, "", "cannot open 'tank': no such pool", []string{ask, list}, "import it"},
		"busy for a moment":   {"r\tlocal", busy + "\n" + busy + "\n", "", []string{ask, destroy, ask, destroy, ask, destroy}, ""},
		"destroyed by others": {"r\tlocal", gone + "\n", "", []string{ask, destroy}, ""},
		"cannot be":           {"r\tlocal", "cannot destroy 'tank/iotax-r-a': dataset has dependent clones\n", "", []string{ask, destroy}, "dependent clones"},
		"cannot be asked":     {"cannot open: permission denied", "", "", []string{ask}, "permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			calls := fakeZFS(t, tt.mark, tt.destroys, tt.pool)
			err := undo(t.Context(), origin{Run: "r"}, Entry{Act: Dataset("tank/iotax-r-a")})
			if (err != nil) != (tt.fails != "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("%v, want %q", err, tt.fails)
			}
			if diff := cmp.Diff(tt.calls, calls()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPoolIsDestroyedOnlyWhenMarked(t *testing.T) {
	for mark, calls := range map[string]int{"r\tlocal": 2, "-\t-": 1, "cannot open 'iotax-r-a': no such pool": 1} {
		log := fakeZFS(t, mark, "", "")
		if _, err := destroyMarked(t.Context(), "r", "iotax-r-a", "zpool", "destroy", "-f", "iotax-r-a"); err != nil {
			t.Error(err)
		}
		if got := log(); len(got) != calls {
			t.Errorf("%q: %q", mark, got)
		}
	}
}
