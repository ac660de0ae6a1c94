package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/iotax/iotax/internal/doctor"
	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/report/text"
	"github.com/iotax/iotax/internal/sys"
)

var someFindings = []doctor.Finding{
	{Area: doctor.Tools, What: "QEMU", State: doctor.OK, Why: "7.2.22, /usr/bin/qemu-system-x86_64"},
	{Area: doctor.Tools, What: "fio", State: doctor.Cannot, Why: "not installed", Mend: "apt-get install fio", Blocks: true},
	{
		Area: doctor.Accelerator, What: "KVM", State: doctor.Cannot, Mend: "measure on the hardware itself, or have the hypervisor under this host offer another",
		Why: "a guest hangs: no sign of life within 8s. Guests run under software emulation: their shares of the host are far below KVM's",
	},
	{Area: doctor.Stacks, What: "virtio-blk-iothread", State: doctor.OK},
	{Area: doctor.Stacks, What: "virtio-blk", State: doctor.OK},
	{Area: doctor.Stacks, What: "virtio-blk-native-and-a-long-name", State: doctor.OK},
	{Area: doctor.Stacks, What: "sata", State: doctor.OK},
	{Area: doctor.Stacks, What: "ide", State: doctor.Cannot, Why: "QEMU has no device", Mend: "install a full build of QEMU"},
	{Area: doctor.Stacks, What: "nvme", State: doctor.Cannot, Why: "QEMU has no device", Mend: "install a full build of QEMU"},
	{Area: doctor.Stacks, What: "null-co", State: doctor.OK},
	{Area: doctor.Host, What: "CPU governor", State: doctor.Warning, Why: "\x1b[31mpowersave\x1b[0m: the\tclock follows\r\nthe load"},
}

func TestFindings(t *testing.T) {
	for name, o := range map[string]text.Options{
		"80": {Width: 80}, "60": {Width: 40}, "colour": {Width: 100, Color: true},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := writeFindings(&out, someFindings, o); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				if n := ansi.StringWidth(strings.TrimSuffix(line, "\n")); n > max(o.Width, 60) {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			checkGolden(t, "doctor/"+name+".golden", out.String())
		})
	}
}

// nowhere runs no program, since there is none.
type nowhere struct{ sys.Runner }

func (nowhere) LookPath(name string) (string, error) {
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// doctorWithout is the real doctor where not one program is installed.
func doctorWithout(t *testing.T, env map[string]string, args ...string) (code errkind.Code, stdout, stderr string) {
	t.Setenv("PATH", "")
	var out, errOut bytes.Buffer
	a := testApp(t.TempDir(), env, &out, &errOut, append([]string{"doctor"}, args...)...)
	a.Runner, a.examine = nowhere{}, a.runDoctor
	code = errkind.Code(a.main(t.Context()))
	return code, out.String(), errOut.String()
}

func TestDoctorWhereNothingIsInstalled(t *testing.T) {
	home := t.TempDir()
	code, stdout, stderr := doctorWithout(t, map[string]string{"HOME": home})
	if code != errkind.Usage || !strings.HasSuffix(stderr, ": qemu-system-x86_64, qemu-img, fio, kernel\n") && !strings.HasSuffix(stderr, ", fio\n") {
		t.Errorf("code %d, stderr %s", code, stderr)
	}
	for _, want := range []string{"cannot   qemu-system-x86_64  not installed\n", "cannot   fio ", "install fio by hand", "neighbours"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the text lacks %q:\n%s", want, stdout)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(home, ".*")); len(left) > 0 {
		t.Errorf("to look made %v", left)
	}
}

func TestDoctorWithoutAHome(t *testing.T) {
	code, stdout, stderr := doctorWithout(t, nil)
	if code != errkind.Usage || strings.Count(stdout, "HOME is not set") < 2 {
		t.Errorf("code %d, stderr %s\n%s", code, stderr, stdout)
	}
}

func TestDoctorJSON(t *testing.T) {
	code, stdout, _ := doctorWithout(t, map[string]string{"HOME": t.TempDir()}, "--json", "--scratch", t.TempDir())
	var d doctor.Document
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		t.Fatal(err)
	}
	if code != errkind.Usage || d.Schema != doctor.Schema || d.Version != Version() || d.CanStart || len(d.Findings) < 8 {
		t.Errorf("code %d, %+v", code, d)
	}
	for _, f := range d.Findings {
		if f.Area == "" || f.What == "" || f.State == "" {
			t.Errorf("empty fields: %s", fmt.Sprintf("%+v", f))
		}
	}
}
