package xlcfg_test

import (
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/xen/xlcfg"
)

// FuzzText finds a text that leaves its place in the configuration: whatever is written between quotes must be read
// as it was given, and every line must be one of ours.
func FuzzText(f *testing.F) {
	f.Add("iotax-r-1", "/vmlinux", "console=hvc0", "/dev/vg/lv")
	f.Add(`a"b`, `/a\"`, "x=\"y z\"\\", `/a",vdev=hda`)
	f.Fuzz(func(t *testing.T, name, kernel, args, path string) {
		text, err := xlcfg.Text(xlcfg.Config{
			Name: name, Type: "pv", CPUs: 1, Memory: 1 << 20, Kernel: kernel, Append: args,
			Disks: []xlcfg.Disk{{VDev: "xvda", Path: path, Format: "raw", Backend: "phy"}},
		})
		if err != nil {
			return
		}
		got := map[string]string{}
		for line := range strings.Lines(text) {
			key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " = ")
			if ok && strings.HasPrefix(value, `"`) {
				got[key] = unquote(t, value)
			}
		}
		if got["name"] != name || got["kernel"] != kernel || got["cmdline"] != args {
			t.Errorf("%q is read as %q", []string{name, kernel, args}, got)
		}
		if !strings.Contains(text, "target="+path+`",`) {
			t.Errorf("target %q is not in\n%s", path, text)
		}
	})
}

// unquote reads a string as libxlu_cfg does.
func unquote(t *testing.T, s string) string {
	t.Helper()
	if len(s) < 2 || s[len(s)-1] != '"' {
		t.Fatalf("not closed: %q", s)
	}
	var b strings.Builder
	for i := 1; i < len(s)-1; i++ {
		switch s[i] {
		case '"':
			t.Fatalf("closed too early: %q", s)
		case '\\':
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
