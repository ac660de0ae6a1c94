package experiment

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/guest/kernel"
	"github.com/iotax/iotax/internal/qemu/bench"
	"github.com/iotax/iotax/internal/qemu/caps"
	"github.com/iotax/iotax/internal/qemu/qsd"
	"github.com/iotax/iotax/internal/revert"
)

// TrialPrefix begins the names of the folders, below the one for temporary files, with the sockets of a guest that is
// booted for a trial only.
const TrialPrefix = "iotax-doctor-"

// Sweep removes what a killed iotax left behind before its run had a journal, and names it: half a download, half a
// guest, files of probes. What belongs to a living process stays.
func Sweep(cacheDir string) (removed []string, err error) {
	for _, left := range []struct{ parent, prefix string }{
		{filepath.Join(cacheDir, "kernel"), kernel.TempPrefix},
		{filepath.Join(cacheDir, "guest"), guest.TempPrefix},
		{filepath.Join(cacheDir, "caps"), caps.TempPrefix},
		{os.TempDir(), caps.TempPrefix},
		{os.TempDir(), qsd.TempPrefix},
		{os.TempDir(), bench.TempPrefix},
		{os.TempDir(), TrialPrefix},
	} {
		found, fault := revert.Sweep(left.parent, left.prefix)
		removed, err = append(removed, found...), errors.Join(err, fault)
	}
	return removed, err
}
