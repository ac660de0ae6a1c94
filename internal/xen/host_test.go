package xen

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/sys"
	"github.com/iotax/iotax/internal/xen/xlcfg"
)

// What `xl info` of Xen 4.17 prints, cut to what matters and its neighbours.
const info = `host                   : lab
release                : 6.1.0-56-amd64
version                : #1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2 (2026-11-16)
nr_cpus                : 4
virt_caps              : pv hvm hap gnttab-v1 gnttab-v2
total_memory           : 2499
free_memory            : 970
xen_version            : 4.17.7
xen_caps               : xen-3.0-x86_64 hvm-3.0-x86_32 hvm-3.0-x86_32p hvm-3.0-x86_64 
`

// toolstack answers commands by their words, in a test.
type toolstack struct {
	answers map[string]string
	absent  string // program that is not installed
}

func (s toolstack) Run(_ context.Context, c sys.Command) ([]byte, error) {
	out, ok := s.answers[strings.Join(c.Argv, " ")]
	if !ok {
		return nil, &sys.CommandError{Argv: c.Argv, Stderr: "xc: error: no such thing\nlibxl: cannot open\n", Err: errors.New("exit status 1")}
	}
	return []byte(out), nil
}

func (s toolstack) LookPath(name string) (string, error) {
	if name == s.absent {
		return "", exec.ErrNotFound
	}
	return "/usr/sbin/" + name, nil
}

func put(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLook(t *testing.T) {
	root := t.TempDir()
	put(t, root, map[string]string{
		"sys/hypervisor/type": "xen\n", "proc/xen/capabilities": "control_d\n",
		"proc/cpuinfo":                          "processor\t: 0\nmodel name\t: QEMU TCG CPU version 2.5+\n",
		"usr/lib/xen-4.17/bin/qemu-system-i386": "#!/bin/sh\n",
	})
	h, why, mend := Look(t.Context(), root, toolstack{answers: map[string]string{"xl info": info}})
	if why != "" || mend != "" {
		t.Fatal(why, mend)
	}
	want := Host{
		Version: "4.17.7", Types: []string{"pv", "pvh", "hvm"}, CPUs: 4, Free: 970 << 20, Emulated: true,
		DeviceModel: filepath.Join(root, "usr/lib/xen-4.17/bin/qemu-system-i386"),
	}
	if d := cmp.Diff(want, h); d != "" {
		t.Error(d)
	}
}

func TestLookWhereThereIsNoXen(t *testing.T) {
	xen := map[string]string{"sys/hypervisor/type": "xen\n"}
	dom0 := map[string]string{"sys/hypervisor/type": "xen\n", "proc/xen/capabilities": "control_d\n"}
	for name, tt := range map[string]struct {
		files     map[string]string
		tools     toolstack
		why, mend string
	}{
		"bare metal":     {nil, toolstack{}, "does not run under Xen", "xen-system-amd64"},
		"another one":    {map[string]string{"sys/hypervisor/type": "kvm\n"}, toolstack{}, "does not run under Xen", "boot"},
		"xenfs":          {xen, toolstack{}, "not mounted", "mount -t xenfs"},
		"a guest":        {map[string]string{"sys/hypervisor/type": "xen\n", "proc/xen/capabilities": "\n"}, toolstack{}, "not its control domain", "dom0"},
		"no xl":          {dom0, toolstack{absent: "xl"}, "xl is not installed", "xen-utils"},
		"no xenstore-ls": {dom0, toolstack{absent: "xenstore-ls"}, "xenstore-ls is not installed", "xenstore-utils"},
		"no daemons":     {dom0, toolstack{}, "xl does not answer: libxl: cannot open", "service xen start"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			put(t, root, tt.files)
			_, why, mend := Look(t.Context(), root, tt.tools)
			if !strings.Contains(why, tt.why) || !strings.Contains(mend, tt.mend) {
				t.Errorf("why %q, mend %q; want %q and %q in them", why, mend, tt.why, tt.mend)
			}
		})
	}
}

func TestLacks(t *testing.T) {
	qdisk, direct := xlcfg.Disk{VDev: "xvda", Backend: "qdisk"}, xlcfg.Disk{VDev: "xvda", Backend: "qdisk", DirectIOSafe: true}
	for name, tt := range map[string]struct {
		change func(*Host)
		domain string
		disks  []xlcfg.Disk
		why    string
	}{
		"pv":              {nil, "pv", nil, ""},
		"hvm, qdisk":      {nil, "hvm", []xlcfg.Disk{qdisk, direct}, ""},
		"no pv":           {func(h *Host) { h.Types = []string{"pvh"} }, "pv", nil, "without PV"},
		"no hvm":          {func(h *Host) { h.Types = []string{"pv"} }, "pvh", nil, "no pvh domains"},
		"no QEMU":         {func(h *Host) { h.DeviceModel = "" }, "hvm", nil, "emulate"},
		"no QEMU, pv":     {func(h *Host) { h.DeviceModel = "" }, "pv", nil, ""},
		"no QEMU, qdisk":  {func(h *Host) { h.DeviceModel = "" }, "pv", []xlcfg.Disk{qdisk}, "qdisk"},
		"no native aio":   {func(h *Host) { h.NativeAIO = false }, "pv", []xlcfg.Disk{qdisk, direct}, "native aio"},
		"memory is taken": {func(h *Host) { h.Free = 256 << 20 }, "pv", nil, "256 MiB of memory left, the domain needs 292 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			h := Host{Types: []string{"pv", "pvh", "hvm"}, Free: 1 << 30, DeviceModel: "/qemu", NativeAIO: true}
			if tt.change != nil {
				tt.change(&h)
			}
			why, mend := h.Lacks(tt.domain, 256<<20, tt.disks...)
			if (why == "") != (tt.why == "") || !strings.Contains(why, tt.why) || (mend == "") != (why == "") {
				t.Errorf("why %q, mend %q; want %q", why, mend, tt.why)
			}
		})
	}
}

// A PV-only build and an old version say it by what they leave out.
func TestParseInfo(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want Host
	}{
		"pv only":  {"xen_caps : xen-3.0-x86_64\nfree_memory : 1\n", Host{Types: []string{"pv"}, Free: 1 << 20}},
		"hvm only": {"xen_caps:hvm-3.0-x86_32 hvm-3.0-x86_64", Host{Types: []string{"pvh", "hvm"}}},
		"nothing":  {"", Host{}},
		"rubbish":  {"nr_cpus : many\nfree_memory\n", Host{}},
	} {
		if d := cmp.Diff(tt.want, parseInfo(tt.text)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestLoads(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	if !loads(sh, "libc.so") || loads(sh, "libaio.so") || loads(filepath.Join(t.TempDir(), "none"), "libc.so") {
		t.Errorf("%s loads libc: %v, libaio: %v", sh, loads(sh, "libc.so"), loads(sh, "libaio.so"))
	}
}
