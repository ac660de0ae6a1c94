package experiment

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/spec"
)

// A target that runs already has its huge pages: that no others are free is no reason to leave its stacks out.
func TestRunningTargetNeedsNoPages(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "spdk.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := spec.Stack{Name: "s", Format: "raw", Bus: "vhost-user-blk", Daemon: "spdk", Cache: "none", AIO: "native"}
	v := servers{spdk: socket}
	if reason, _ := v.lacks(t.Context(), s, spec.Guest{Memory: 1 << 60, Hugepages: 2 << 20}); reason != "" {
		t.Errorf("unavailable: %s", reason)
	}
	v.spdk = "/bin/true"
	if reason, mend := v.lacks(t.Context(), s, spec.Guest{Memory: 1 << 60, Hugepages: 2 << 20}); reason == "" || mend == "" {
		t.Errorf("one that is to be started without pages: %q, %q", reason, mend)
	}
	if reason, mend := v.lacks(t.Context(), s, spec.Guest{}); !strings.Contains(reason, "pages of 2 MiB") || !strings.Contains(mend, "hugepages") {
		t.Errorf("a guest without huge pages: %q, %q", reason, mend)
	}
}
