package cli

import (
	"path/filepath"
	"testing"

	"github.com/iotax/iotax/internal/golden"
)

// checkGolden compares got with the file testdata/name.
func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	golden.Equal(t, file, got)
}
