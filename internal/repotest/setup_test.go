package repotest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// machine is a pretended host for scripts/setup.sh: a PATH with nothing on it but what the test puts there.
type machine struct {
	t   *testing.T
	bin string
	log string // what was run that would have changed the host
}

func newMachine(t *testing.T, user string, programs ...string) machine {
	m := machine{t, t.TempDir(), filepath.Join(t.TempDir(), "log")}
	m.script("uname", `case $1 in -s) echo Linux ;; -m) echo x86_64 ;; esac`)
	m.script("id", "echo "+user)
	m.script("go", "exit 1")
	m.script("env", `while [ "${1#*=}" != "$1" ]; do shift; done; "$@"`)
	for _, p := range programs {
		m.script(p, "exit 0")
	}
	return m
}

func (m machine) script(name, body string) {
	m.t.Helper()
	if err := os.WriteFile(filepath.Join(m.bin, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		m.t.Fatal(err)
	}
}

// manager adds a package manager that notes how it was called, and installs the programs when it is told to install.
func (m machine) manager(name string, installs ...string) {
	body := fmt.Sprintf("echo %s \"$@\" >>%s\ncase \" $* \" in *' install '*) ", name, m.log)
	for _, p := range installs {
		body += fmt.Sprintf("echo '#!/bin/sh' >%[1]s/%[2]s; /bin/chmod +x %[1]s/%[2]s; ", m.bin, p)
	}
	m.script(name, body+";; esac")
}

// setup runs the script and returns its exit code and all that it said, and what was done to the machine.
func (m machine) setup(wishes ...string) (code int, said, done string) {
	m.t.Helper()
	script, err := filepath.Abs(filepath.Join(root, "scripts/setup.sh"))
	if err != nil {
		m.t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := exec.Command("/bin/sh", append([]string{script}, wishes...)...)
	cmd.Env = []string{"PATH=" + m.bin}
	cmd.Stdout, cmd.Stderr = &out, &out
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		m.t.Fatal(err)
	}
	log, _ := os.ReadFile(m.log)
	return cmd.ProcessState.ExitCode(), out.String(), string(log)
}

var needed = []string{"qemu-system-x86_64", "qemu-img", "fio", "ioping"}

func TestSetupDoesNothingTwice(t *testing.T) {
	m := newMachine(t, "0", needed...)
	m.manager("apt-get")
	if code, said, done := m.setup(); code != 0 || done != "" || !strings.Contains(said, "all there") {
		t.Errorf("code %d, done %q, said %s", code, done, said)
	}
}

func TestSetupInstallsOnlyWhatIsMissing(t *testing.T) {
	m := newMachine(t, "0", "qemu-img", "ioping")
	m.manager("apt-get", "qemu-system-x86_64", "fio")
	code, said, done := m.setup()
	want := "apt-get update -q\napt-get install -y -o DPkg::Lock::Timeout=300 --no-install-recommends qemu-system-x86 fio\n"
	if code != 0 || done != want {
		t.Errorf("code %d, done %q, want %q, said %s", code, done, want, said)
	}
	if code, said, _ := m.setup(); code != 0 || !strings.Contains(said, "all there") {
		t.Errorf("the second time: code %d, said %s", code, said)
	}
}

func TestSetupWithoutRootSaysWhatToRun(t *testing.T) {
	for _, sudo := range []bool{false, true} {
		m := newMachine(t, "1000")
		m.manager("apt-get", needed...)
		if sudo {
			m.script("sudo", "exit 1") // it would ask for a password
		}
		code, said, done := m.setup()
		want := "sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -o DPkg::Lock::Timeout=300 --no-install-recommends qemu-system-x86 qemu-utils fio\n"
		if code != 2 || done != "" || !strings.HasSuffix(said, want) {
			t.Errorf("sudo %v: code %d, done %q, said %s", sudo, code, done, said)
		}
	}
}

func TestSetupUsesSudoThatDoesNotAsk(t *testing.T) {
	m := newMachine(t, "1000", "qemu-system-x86_64", "qemu-img", "fio")
	m.manager("dnf", "ioping")
	m.script("sudo", `shift; "$@"`)
	if code, said, done := m.setup(); code != 0 || done != "dnf install -y ioping\n" {
		t.Errorf("code %d, done %q, said %s", code, done, said)
	}
}

func TestSetupWithoutAKnownPackageManager(t *testing.T) {
	m := newMachine(t, "0", "fio")
	code, said, _ := m.setup()
	if code != 2 || !strings.Contains(said, "missing: qemu-system-x86_64 qemu-img\n") || !strings.Contains(said, "by hand") {
		t.Errorf("code %d, said %s", code, said)
	}
}

func TestSetupWhosePackagesLackAProgram(t *testing.T) {
	m := newMachine(t, "0", "qemu-system-x86_64", "qemu-img", "ioping")
	m.manager("zypper")
	if code, said, _ := m.setup(); code != 2 || !strings.Contains(said, "not there: fio") {
		t.Errorf("code %d, said %s", code, said)
	}
}

// ioping is of use and not needed: RHEL has no package of it, for example.
func TestSetupDoesWithoutTheOptional(t *testing.T) {
	failing, user := newMachine(t, "0", "qemu-system-x86_64", "qemu-img"), newMachine(t, "1000", needed[:3]...)
	failing.script("dnf", "case \" $* \" in *' ioping '*) exit 1 ;; esac; echo >"+failing.bin+"/fio; /bin/chmod +x "+failing.bin+"/fio")
	user.manager("apt-get")
	for _, m := range []machine{failing, user} {
		if code, said, _ := m.setup(); code != 0 || !strings.Contains(said, "not needed: ioping") {
			t.Errorf("code %d, said %s", code, said)
		}
	}
}

// What tests wish for is installed one by one, so that one that no package has keeps none of the others away.
func TestSetupOfWishes(t *testing.T) {
	m := newMachine(t, "0", needed...)
	m.manager("apt-get", "xmllint")
	code, said, done := m.setup("virt-xml-validate", "xmllint")
	want := "apt-get update -q\napt-get install -y -o DPkg::Lock::Timeout=300 --no-install-recommends libvirt-clients\napt-get install -y -o DPkg::Lock::Timeout=300 --no-install-recommends libxml2-utils\n"
	if code != 0 || done != want || !strings.HasSuffix(said, "not needed: virt-xml-validate\n") {
		t.Errorf("code %d, done %q, want %q, said %s", code, done, want, said)
	}
}

func TestSetupWhoseInstallationFails(t *testing.T) {
	m := newMachine(t, "0")
	m.script("apk", "exit 1")
	if code, said, _ := m.setup(); code != 2 || !strings.Contains(said, "still needed are: qemu-system-x86_64") {
		t.Errorf("code %d, said %s", code, said)
	}
}

func TestSetupElsewhere(t *testing.T) {
	m := newMachine(t, "0", needed...)
	m.script("uname", `case $1 in -s) echo Linux ;; -m) echo aarch64 ;; esac`)
	if code, said, _ := m.setup(); code != 2 || !strings.Contains(said, "Linux on aarch64") {
		t.Errorf("code %d, said %s", code, said)
	}
}
