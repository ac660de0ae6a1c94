package hostenv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/record"
)

func TestHypervisor(t *testing.T) {
	const vm, metal = "processor : 0\nflags : fpu hypervisor\n", "processor : 0\nflags : fpu\n"
	tests := map[string]struct {
		files map[string]string
		want  string
	}{
		"bare metal": {map[string]string{"proc/cpuinfo": metal, "sys/class/dmi/id/sys_vendor": "Dell Inc.\n"}, ""},
		"QEMU": {map[string]string{
			"proc/cpuinfo": vm, "sys/class/dmi/id/sys_vendor": "QEMU\n",
			"sys/class/dmi/id/product_name": "Standard PC (Q35 + ICH9, 2009)\n",
		}, "QEMU Standard PC (Q35 + ICH9, 2009)"},
		"ARM, which has no flag": {map[string]string{
			"proc/cpuinfo":                  "processor : 0\nFeatures : fp\n",
			"sys/class/dmi/id/product_name": "KVM Virtual Machine\n",
		}, "KVM Virtual Machine"},
		"only the flag":       {map[string]string{"proc/cpuinfo": vm}, "unidentified"},
		"an unknown vendor":   {map[string]string{"proc/cpuinfo": vm, "sys/class/dmi/id/sys_vendor": "Amazon EC2\n"}, "Amazon EC2"},
		"metal of a cloud":    {map[string]string{"proc/cpuinfo": metal, "sys/class/dmi/id/sys_vendor": "Amazon EC2\n"}, ""},
		"guest of Xen":        {map[string]string{"proc/cpuinfo": vm, "sys/hypervisor/type": "xen\n"}, "Xen"},
		"Dom0 is the host":    {map[string]string{"proc/cpuinfo": vm, "sys/hypervisor/type": "xen\n", "proc/xen/capabilities": "control_d\n"}, ""},
		"nothing can be read": {map[string]string{"proc/x": ""}, ""},
	}
	for name, tt := range tests {
		var got record.Host
		tree(t, tt.files, nil).Facts(&got)
		if got.Virtualised != tt.want {
			t.Errorf("%s: %q, want %q", name, got.Virtualised, tt.want)
		}
	}
}

func TestFactsOfWrittenHost(t *testing.T) {
	h := tree(t, map[string]string{
		"proc/cpuinfo": "processor : 0\nmodel name : Intel(R) Xeon(R) Gold\nflags : fpu\n\n" +
			"processor : 1\nmodel name : other\nflags : hypervisor\n",
		"proc/meminfo":              "MemTotal:       16384 kB\nMemFree: 1 kB\n",
		"proc/sys/kernel/osrelease": "6.1.0-56-amd64\n",
		"proc/loadavg":              "1.25 0.5 0.25 1/100 4242\n",
	}, nil)
	got := record.Host{QEMU: "stays"}
	h.Facts(&got)
	got.CPUs = 0 // of the real process
	want := record.Host{QEMU: "stays", CPU: "Intel(R) Xeon(R) Gold", Memory: 16 << 20, Kernel: "6.1.0-56-amd64"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if load := h.Load(); load != 1.25 {
		t.Errorf("load %v", load)
	}
}

func TestCPUNames(t *testing.T) {
	for text, want := range map[string]string{
		"CPU implementer : 0x41\nCPU part : 0xd0c\n": "ARM implementer 0x41 part 0xd0c",
		"cpu : POWER9, altivec supported\n":          "POWER9, altivec supported",
		"":                                           "",
	} {
		if got := tree(t, map[string]string{"proc/cpuinfo": text}, nil).cpuinfo().model; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestFactsOfThisHost(t *testing.T) {
	var got record.Host
	Host{}.Facts(&got)
	if got.CPUs < 1 || got.Memory < 1<<20 || got.Kernel == "" {
		t.Errorf("%+v", got)
	}
}

func TestNeighbours(t *testing.T) {
	argv := func(args ...string) string { return strings.Join(args, "\x00") + "\x00" }
	h := tree(t, map[string]string{
		"proc/1/cmdline":  argv("/sbin/init"),
		"proc/2/cmdline":  "",
		"proc/10/cmdline": argv("/usr/bin/kvm", "-id", "100", "-name", "web,debug-threads=on"),
		"proc/11/cmdline": argv("/usr/bin/qemu-system-x86_64", "-name", "guest=db,debug-threads=on", "-S"),
		"proc/12/cmdline": argv("qemu-system-aarch64", "--name", "arm"),
		"proc/13/cmdline": argv("/usr/libexec/qemu-kvm", "-m", "1G"),
		"proc/14/cmdline": argv("firecracker", "--id", "micro"),
		"proc/15/cmdline": argv("crosvm", "run", "--name=cros"),
		"proc/16/cmdline": argv("cloud-hypervisor", "--api-socket", "/x"),
		"proc/17/cmdline": argv("/usr/lib/virtualbox/VBoxHeadless", "--comment", "win", "--startvm", "1"),
		"proc/18/cmdline": argv("qemu-system-x86_64", "-name", "ours"),
		"proc/19/cmdline": argv("vim", "qemu-system-x86_64", "-name", "x"),
		"proc/20/cmdline": argv("qemu-system-i386", "-xen-domid", "3", "-name"),
	}, nil)
	found, err := h.Neighbours(18)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range found {
		got = append(got, n.String())
	}
	want := []string{
		"web (kvm, process 10)", "db (qemu-system-x86_64, process 11)", "arm (qemu-system-aarch64, process 12)",
		"a virtual machine without a name (qemu-kvm, process 13)", "micro (firecracker, process 14)",
		"cros (crosvm, process 15)", "a virtual machine without a name (cloud-hypervisor, process 16)",
		"win (VBoxHeadless, process 17)", "a virtual machine without a name (qemu-system-i386, process 20)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestIOURingSysctl(t *testing.T) {
	h := tree(t, map[string]string{"proc/sys/kernel/io_uring_disabled": "2\n"}, nil)
	if err := h.IOURing(); err == nil || !strings.Contains(err.Error(), "switched off") {
		t.Errorf("%v", err)
	}
}

func TestDirectIOLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := DirectIO(dir); err != nil {
		t.Skipf("the folder for tests has none: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if err := DirectIO(filepath.Join(dir, "none")); err == nil {
		t.Error("works in a folder that does not exist")
	}
	if err := DirectIO("/proc"); err == nil {
		t.Error("works in /proc")
	}
}
