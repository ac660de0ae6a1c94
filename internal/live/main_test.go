package live

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/iotax/iotax/internal/golden"
)

func TestMain(m *testing.M) {
	// The goroutine of os/signal lives as long as the process: it must not be born inside a bubble of synctest.
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGWINCH)
	signal.Stop(c)
	goleak.VerifyTestMain(m)
}

func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	golden.Equal(t, path, got)
}
