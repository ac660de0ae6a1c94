package agent

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/wire"
)

// consoleName is the console that a kernel command line names for the agent, "" when it names none.
func consoleName(cmdline string) string {
	for _, arg := range strings.Fields(cmdline) {
		if name, ok := strings.CutPrefix(arg, wire.ConsoleArg+"="); ok {
			return filepath.Base(name)
		}
	}
	return ""
}

// openConsole waits for a console to appear and opens it. What the host says on it outside of records is meant for nobody.
func openConsole(path string, patience time.Duration) (io.ReadWriteCloser, error) {
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		c, err := wire.OpenConsole(path, io.Discard)
		if err == nil {
			return c, nil
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("no console to the host after %v: %w", patience, err)
		}
	}
}
