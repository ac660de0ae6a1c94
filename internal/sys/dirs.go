package sys

import (
	"path/filepath"

	"github.com/iotax/iotax/internal/errkind"
)

// StateDir is where runs, journals and reports are kept: IOTAX_STATE, else XDG_STATE_HOME/iotax, else
// ~/.local/state/iotax. It is not created here.
func (w World) StateDir() (string, error) {
	return w.folder("IOTAX_STATE", "XDG_STATE_HOME", ".local/state")
}

// CacheDir is where what can be made again is kept, such as the guest's kernel: IOTAX_CACHE, else
// XDG_CACHE_HOME/iotax, else ~/.cache/iotax. It is not created here.
func (w World) CacheDir() (string, error) {
	return w.folder("IOTAX_CACHE", "XDG_CACHE_HOME", ".cache")
}

func (w World) folder(own, xdg, underHome string) (string, error) {
	if dir := w.Getenv(own); dir != "" {
		return filepath.Clean(w.Abs(dir)), nil
	}
	// The XDG Base Directory Specification says that a relative path in these variables is to be ignored.
	if dir := w.Getenv(xdg); filepath.IsAbs(dir) {
		return filepath.Join(dir, "iotax"), nil
	}
	if home := w.Getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, underHome, "iotax"), nil
	}
	return "", errkind.Userf("no place to keep files: HOME is not set; set %s to a folder", own)
}
