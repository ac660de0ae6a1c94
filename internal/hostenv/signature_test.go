package hostenv

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/sys"
)

// blind is a blkid that finds nothing, as on a disk of plain dm-crypt.
type blind struct{ sys.Exec }

func (blind) LookPath(name string) (string, error) { return name, nil }

func (blind) Run(ctx context.Context, _ sys.Command) ([]byte, error) {
	return sys.Exec{}.Run(ctx, sys.Command{Argv: []string{"sh", "-c", "exit 2"}})
}

// Data without a signature is found at the ends, and in between where it takes more than a sample leaves out.
func TestDataWithoutASignature(t *testing.T) {
	const size = 64 << 20
	for name, tt := range map[string]struct {
		at, length int
		says       string
	}{
		"zeros":         {0, 0, ""},
		"first byte":    {0, 1, "first MiB is not all zero"},
		"last byte":     {size - 1, 1, "last MiB is not all zero"},
		"in the middle": {30 << 20, 1 << 20, "not all zero from byte 3"},
		"at the brink":  {size - edge - 512<<10, 512 << 10, "not all zero from byte 6"},
	} {
		path := filepath.Join(t.TempDir(), "disk")
		data := make([]byte, size)
		for i := range tt.length {
			data[tt.at+i] = 0xa5
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		reasons, err := signatures(t.Context(), blind{}, path)
		if got := strings.Join(reasons, "; "); err != nil || (got != "") != (tt.says != "") || !strings.Contains(got, tt.says) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, tt.says)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(path, make([]byte, 4<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := notEmpty(cancelled, path); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
