package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/accel"
	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/experiment"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/guest/kernel"
	"github.com/iotax/iotax/internal/hostenv"
	"github.com/iotax/iotax/internal/qemu/caps"
	"github.com/iotax/iotax/internal/qemu/qmp"
	"github.com/iotax/iotax/internal/record"
)

// hosts are examinations whose findings, but for those of a healthy host, are in testdata/NAME.golden.
var hosts = map[string]struct {
	change func(f *fake)
	starts bool // whether the default run can
}{
	"nothing-installed": {func(f *fake) {
		clear(f.programs)
		f.Boot = noBoot
		f.Kernel = gives(kernel.Kernel{}, nil, errkind.Userf("no guest kernel: unpack one"))
	}, false},
	"fedora-without-tools": {func(f *fake) { f.programs = map[string]string{"dnf": "/bin/dnf"}; f.Boot = noBoot }, false},
	"emulation": {func(f *fake) {
		f.caps.Version = qmp.Version{Major: 7, Minor: 2, Micro: 22}
		f.Boot = boots(accel.Choice{Accel: accel.TCG, Reason: "KVM is here but guests do not start with it: a guest hangs"}, nil)
		f.facts.Virtualised = "QEMU Standard PC"
	}, true},
	"kvm-hangs-on-metal": {func(f *fake) { f.Boot = boots(accel.Choice{Accel: accel.TCG, Reason: "a guest hangs"}, nil) }, true},
	"no-kvm-device":      {func(f *fake) { f.Hopeless = hopeless("there is no /dev/kvm"); f.Boot = noBoot }, true},
	"kvm-closed": {func(f *fake) {
		f.kvm(0o600, 0, 0)
		f.Hopeless, f.Boot = hopeless("/dev/kvm may not be opened"), noBoot
	}, true},
	"qemu-without-kvm": {func(f *fake) {
		f.caps.Accelerators = []string{"tcg"}
		f.Hopeless, f.Boot = hopeless("this QEMU was built without KVM"), noBoot
	}, true},
	"old-tools": {func(f *fake) {
		f.fio = "fio-2.16\n"
		f.caps.Version = qmp.Version{Major: 4, Minor: 2, Micro: 1}
		delete(f.programs, "ioping")
	}, true},
	"fio-broken": {func(f *fake) {
		f.Run = func(context.Context, ...string) ([]byte, error) { return nil, errors.New("fio: exit status 127") }
		f.Boot = noBoot
	}, false},
	"qemu-broken": {func(f *fake) {
		f.Caps = func(context.Context, string) (caps.Caps, error) {
			return caps.Caps{}, errors.New("asking QEMU: exit status 1")
		}
		f.Boot = noBoot
	}, false},
	"first-run": {func(f *fake) {
		f.Kernel = gives(kernel.Kernel{}, []string{"linux-image-6.1.0-56-amd64"}, nil)
		f.Boot = noBoot
	}, true},
	"no-agent":    {func(f *fake) { f.Agent = fails(errkind.Userf("built without its agent")); f.Boot = noBoot }, false},
	"guest-fails": {func(f *fake) { f.Boot = boots(accel.Choice{}, errors.New("kernel 6.12.0 has no [virtio_console]")) }, false},
	"fewer-stacks": {func(f *fake) {
		f.caps.Devices = without(f.caps.Devices, "nvme")
		f.IOURing = fails(errors.New("io_uring is switched off: kernel.io_uring_disabled is 2"))
		f.file("proc/sys/kernel/io_uring_disabled", "2\n")
	}, true},
	"no-io_uring-in-a-container": {func(f *fake) { f.IOURing = fails(errors.New("io_uring_setup: operation not permitted")) }, true},
	"no-stacks":                  {func(f *fake) { f.caps.Devices = nil }, false},
	"tmpfs": {func(f *fake) {
		f.Place = func() (experiment.Place, error) {
			return f.place, errkind.WithHint(errkind.Userf("scratch folder /state/scratch: no O_DIRECT in /state: invalid argument"), "give another")
		}
	}, false},
	"btrfs": {func(f *fake) {
		f.place = experiment.Place{Path: "/s", Existing: "/s", Filesystem: "btrfs", Storage: hostenv.Storage{Reason: "btrfs spreads files"}}
	}, true},
	"spinning-disk": {func(f *fake) {
		f.place.Device = record.Device{Name: "sda+sdb", Rotational: true}
	}, true},
	"too-small":     {func(f *fake) { f.Free = func(string) (int64, error) { return 5 << 30, nil } }, false},
	"little-memory": {func(f *fake) { f.facts.Memory = 900 << 20 }, false},
	"no-home": {func(f *fake) {
		f.Store = func() (string, error) { return "", errkind.Userf("no place to keep files: HOME is not set") }
	}, false},
	"after-a-crash": {func(f *fake) { f.Dead = func() ([]string, error) { return []string{"7k2f", "3b9x"}, nil } }, true},
	"while-another-measures": {func(f *fake) {
		f.Running = func() (string, error) { return "process 4711", nil }
		f.Boot = noBoot
	}, false},
	"busy-host": {func(f *fake) {
		f.Load = func() float64 { return 7.5 }
		f.Neighbours = func() ([]string, error) {
			return []string{"db01 (qemu-kvm, process 7)", "db02 (qemu-kvm, process 8)"}, nil
		}
	}, true},
	"power-saving": {func(f *fake) {
		f.file("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n")
		f.file("sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "powersave\n")
		f.file("sys/devices/system/cpu/cpufreq/policy2/scaling_governor", "powersave\n")
		f.file("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n")
	}, true},
	"tuned": {func(f *fake) {
		f.file("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n")
		f.file("sys/devices/system/cpu/cpufreq/boost", "0\n")
	}, true},
	"boost": {func(f *fake) { f.file("sys/devices/system/cpu/cpufreq/boost", "1\n") }, true},
	"libvirt": {func(f *fake) {
		f.kvm(0o600, 0, 0)
		f.file("etc/passwd", "root:x:0:0:root:/root:/bin/sh\nlibvirt-qemu:x:64055:108::/var/lib/libvirt:/usr/sbin/nologin\n")
	}, true},
}

func hopeless(why string) func(caps.Caps) string { return func(caps.Caps) string { return why } }

func fails(err error) func() error { return func() error { return err } }

func TestExamine(t *testing.T) {
	healthy(t).check(t, "healthy", nil, true)
	usual := Examine(t.Context(), healthy(t).Deps)
	for name, host := range hosts {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			host.change(f)
			f.check(t, name, usual, host.starts)
		})
	}
	files, _ := filepath.Glob("testdata/*.golden")
	if len(files) != len(hosts)+1 {
		t.Errorf("%d golden files for %d hosts: one belongs to nothing", len(files), len(hosts)+1)
	}
}

// check compares what is found on a host, the usual left out, with its golden file.
func (f *fake) check(t *testing.T, name string, usual []Finding, starts bool) {
	t.Helper()
	findings := Examine(t.Context(), f.Deps)
	if CanStart(findings) != starts {
		t.Errorf("the default run can start: %v, want %v", !starts, starts)
	}
	known := map[Finding]bool{}
	for _, u := range usual {
		known[u] = true
	}
	var got strings.Builder
	for _, n := range findings {
		if strings.Contains(n.Why+n.Mend, "\n") {
			t.Errorf("%+v has several lines", n)
		}
		if n.Blocks && n.State != Cannot {
			t.Errorf("%+v blocks, and is not said to", n)
		}
		if known[n] {
			continue
		}
		state := string(n.State)
		if n.Blocks {
			state += ", blocks"
		}
		fmt.Fprintf(&got, "%s / %s: %s\n", n.Area, n.What, state)
		for _, line := range []string{n.Why, "mend: " + n.Mend} {
			if line != "" && line != "mend: " {
				fmt.Fprintf(&got, "    %s\n", line)
			}
		}
	}
	checkGolden(t, "testdata/"+name+".golden", got.String())
}

func checkGolden(t *testing.T, file, got string) {
	t.Helper()
	golden.Equal(t, file, got)
}

func TestFioVersion(t *testing.T) {
	for text, want := range map[string][2]int{
		"3.33": {3, 33}, "2.1.11": {2, 1}, "3.39-14-gd2b2": {3, 39}, "3.3-dirty": {3, 3}, "": {-1, -1}, "head": {-1, -1},
		"99999999999999999999.1": {-1, -1},
	} {
		major, minor, ok := fioVersion(text)
		if !ok {
			major, minor = -1, -1
		}
		if diff := cmp.Diff(want, [2]int{major, minor}); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestExplain(t *testing.T) {
	hint := errkind.WithHint(errkind.Userf("no disk"), "buy one")
	for name, tt := range map[string]struct {
		err       error
		why, mend string
	}{
		"plain":        {errors.New("no disk"), "no disk", ""},
		"hint":         {hint, "no disk", "buy one"},
		"wrapped hint": {fmt.Errorf("scratch: %w", hint), "scratch: no disk; buy one", ""},
		"lines":        {errors.New("qemu: exit status 1\nno KVM\n"), "qemu: exit status 1; no KVM", ""},
		"no hint":      {errkind.Userf("no disk"), "no disk", ""},
	} {
		if why, mend := explain(tt.err); why != tt.why || mend != tt.mend {
			t.Errorf("%s: %q, %q", name, why, mend)
		}
	}
}
