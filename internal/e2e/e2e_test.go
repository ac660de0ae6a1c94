// Package e2e runs the real program as a user does, on real guests, and looks after each test whether anything of it
// is left on the host. The tests need QEMU, fio and a guest kernel, some of them root; they are skipped without.
package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	_ "github.com/iotax/iotax/internal/cli" // so that a change of the program is a change of this test: go test caches
	"github.com/iotax/iotax/internal/vm/vmtest"
)

// root is the repository's folder as seen from this package's.
const root = "../.."

// built is the folder of the program under test, removed at the end.
var built string

func TestMain(m *testing.M) {
	var err error
	if built, err = os.MkdirTemp("", "iotax-e2e-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(built)
	os.Exit(code)
}

// program returns the path of the program under test, built once from the sources as they are.
func program(t *testing.T) string {
	t.Helper()
	vmtest.QEMU(t)
	vmtest.Image(t) // else the first test would wait for a kernel to be downloaded
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// build makes the agent and the program with it inside. The agent takes the place of the one in the source tree by
// an overlay: nothing is written there, where other packages may be compiling at the same time.
var build = sync.OnceValues(func() (string, error) {
	embedded, err := filepath.Abs(filepath.Join(root, "internal/guest/embedded", "agent-"+runtime.GOARCH))
	if err != nil {
		return "", err
	}
	agent, overlay, program := filepath.Join(built, "agent"), filepath.Join(built, "overlay.json"), filepath.Join(built, "iotax")
	text, err := json.Marshal(map[string]map[string]string{"Replace": {embedded: agent}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return "", err
	}
	for _, args := range [][]string{
		{"-o", agent, "./cmd/iotax-agent"},
		{"-overlay", overlay, "-o", program, "./cmd/iotax"},
	} {
		cmd := exec.Command("go", append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w"}, args...)...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
		}
	}
	return program, nil
})
