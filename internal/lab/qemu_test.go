package lab

import (
	"os"
	"path/filepath"
	"testing"
)

// qemuPackages start a QEMU in their tests, the one that IOTAX_QEMU names.
var qemuPackages = []string{"./internal/qemu/...", "./internal/vm/..."}

// The arguments that are written, the defaults that are counted on and the answers that are understood are those of two
// releases of QEMU: the host's, in the packages' own tests, and this one.
func TestAnotherQEMU(t *testing.T) {
	dir := part(t, QEMU)
	env := []string{
		"IOTAX_QEMU=" + filepath.Join(dir, "bin", "qemu-system-x86_64"),
		"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"),
	}
	out, err := goTool(t, env, append([]string{"test", "-count=1", "-v"}, qemuPackages...)...)
	r := parse(out)
	t.Logf("%d passed, %d skipped, %d failed", r.passed, len(r.skipped), len(r.failed))
	for _, s := range r.skipped {
		t.Logf("skipped %s: %s", s.test, s.said)
	}
	for _, f := range r.failed {
		t.Errorf("%s\n%s", f.test, f.said)
	}
	if err != nil && len(r.failed) == 0 || r.passed == 0 {
		t.Errorf("%v\n%s", err, out[max(0, len(out)-lastWords):])
	}
}
