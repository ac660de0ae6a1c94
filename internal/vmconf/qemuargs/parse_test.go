package qemuargs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/qemuargs"
)

// fixtures are the texts of testdata by their file names.
func fixtures(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/*.*")
	if err != nil || len(files) == 0 {
		t.Fatal("no fixtures", err)
	}
	out := map[string][]byte{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(f)] = data
	}
	return out
}

func parse(t testing.TB, name string, data []byte) *qemuargs.Document {
	t.Helper()
	d, err := qemuargs.Parse(name, data)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestParse(t *testing.T) {
	for name, data := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			d := parse(t, name, data)
			if !bytes.Equal(d.Bytes(), data) {
				t.Error("the bytes are not those that were read")
			}
			golden.Equal(t, filepath.Join("testdata/golden", name+".txt"), dump(d.VMs()))
		})
	}
}

// A vector and the script that starts it mean the same.
func TestArgs(t *testing.T) {
	argv := []string{
		"/usr/bin/qemu-system-x86_64", "-name", "guest=a b", "-drive", "file=/srv/x y.img,if=virtio,cache=none",
		"-device", `{"driver":"virtio-balloon-pci"}`, "-append", "root=/dev/vda -m 5", "",
	}
	vm, err := qemuargs.Args("pid 1", argv)
	if err != nil {
		t.Fatal(err)
	}
	if vm.Name != "a b" || len(vm.Disks) != 1 || vm.Disks[0].Source.Value != "/srv/x y.img" || vm.Disks[0].Cache.Value != "none" ||
		vm.Balloon.Value != "on" || vm.Memory.Value != "134217728" || vm.Disks[0].At.Line != 0 {
		t.Errorf("got\n%s", dump([]vmconf.VM{vm}))
	}
	script := "exec " + argv[0] + " -name 'guest=a b' -drive file=/srv/x\\ y.img,if=virtio,cache=none -device '" + argv[6] +
		"' -append \"root=/dev/vda -m 5\" ''\n"
	same := parse(t, "script", []byte(script)).VMs()[0].Disks[0]
	if same.Source.Value != vm.Disks[0].Source.Value || same.Queues.Value != vm.Disks[0].Queues.Value {
		t.Errorf("the script says %+v, the vector %+v", same, vm.Disks[0])
	}
	if _, err := qemuargs.Args("pid 2", []string{"/bin/sleep", "1"}); errkind.CodeOf(err) != errkind.Usage {
		t.Errorf("sleep is read as a QEMU: %v", err)
	}
}

func TestRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":        {"", "no command line of QEMU"},
		"another":        {"ls -la /dev/kvm\nmodprobe kvm\necho qemu-system-x86_64 -hda x\n", "no command line of QEMU"},
		"utf-16":         {"\xff\xfeq\x00e\x00m\x00u\x00", "UTF-16"},
		"binary":         {"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00", "no command line of QEMU"},
		"large":          {strings.Repeat("x", vmconf.MaxBytes+1), "too many"},
		"all words":      {strings.Repeat("x ", 1<<20), "more than"},
		"nested":         {strings.Repeat("$(", 1<<20), "no command line of QEMU"},
		"one command":    {"qemu-system-x86_64" + strings.Repeat(" -drive file=a", 11_000), "more than 20000 words"},
		"a stray option": {"some text\n-m\n-k x\nmore text\n", "no command line of QEMU"},
		"quotes":         {strings.Repeat(`'"`, 1<<20), "more than"},
		"other tools":    {"qemu-img create -f qcow2 a.img 5G\ncurl -s -S -m 10 http://example.org\n", "no command line of QEMU"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := qemuargs.Parse("f", []byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line with %q", err, tt.want)
			}
			if errkind.CodeOf(err) != errkind.Usage {
				t.Errorf("the code is %d", errkind.CodeOf(err))
			}
		})
	}
}

// What is malformed inside a command line is said, and the rest is read.
func TestSays(t *testing.T) {
	bomb := "a=x\n"
	for c := 'b'; c < 'z'; c++ {
		bomb += string(c) + `="$` + string(c-1) + `$` + string(c-1) + `$` + string(c-1) + "\"\n"
	}
	for name, tt := range map[string]struct{ text, unknown string }{
		"json":      {`qemu-system-x86_64 -hda a -device '{"driver":"x",}'`, "not valid JSON"},
		"deep json": {`qemu-system-x86_64 -hda a -blockdev '` + strings.Repeat(`{"a":`, 5000) + `'`, "nested more than"},
		"truncated": {"qemu-system-x86_64 -hda a -drive", "its value is missing"},
		"option":    {"qemu-system-x86_64 -hda a -no-such thing", "-no-such thing"},
		"variable":  {`qemu-system-x86_64 -hda a "$@"`, `$@: what it holds is not known`},
		"dangling":  {"qemu-system-x86_64 -hda a -device virtio-blk-pci,drive=gone", "gone is not among"},
		"bomb":      {bomb + "qemu-system-x86_64 -hda a $y", ""},
		"set":       {"qemu-system-x86_64 -hda a -set device.gone.x=1", "-set device.gone.x=1"},
	} {
		t.Run(name, func(t *testing.T) {
			vm := parse(t, "f", []byte(tt.text)).VMs()[0]
			if len(vm.Disks) == 0 || vm.Disks[0].Source.Value != "a" {
				t.Errorf("the disk is lost:\n%s", dump([]vmconf.VM{vm}))
			}
			if !strings.Contains(dump([]vmconf.VM{vm}), tt.unknown) {
				t.Errorf("%q is not said:\n%s", tt.unknown, dump([]vmconf.VM{vm}))
			}
		})
	}
}
