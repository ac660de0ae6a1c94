package emit

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/iotax/iotax/internal/spec"
)

// TestValidate gives every domain that a stack of a preset becomes, those of every bus, cache mode and aio and those of the
// golden files to libvirt's own schema.
func TestValidate(t *testing.T) {
	const tool = "virt-xml-validate"
	for _, program := range []string{tool, "xmllint"} { // which the former runs
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	if testing.Short() {
		t.Skip("validates some two hundred domains: not with -short")
	}
	domains := map[string]string{}
	add := func(s spec.Stack, o Options) {
		o.Name = "vm" // so that stacks that are alike are one domain
		c, err := Make(Libvirt, s, o)
		if err != nil || s.VQMapping != 0 { // whose element is younger than many schemas that are installed
			return
		}
		text, _ := c.Commented()
		domains[text] = s.Name
	}
	for _, p := range spec.Presets() {
		e, err := spec.Preset(p.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range e.Stacks {
			o := usual()
			o.Guest = e.GuestOf(s)
			add(s, o)
		}
	}
	for _, bus := range spec.Buses {
		for _, s := range matrix(bus) {
			add(s, usual())
		}
	}
	for _, v := range variants() {
		add(v.stack, v.opts)
	}
	if len(domains) < 80 {
		t.Fatalf("only %d domains", len(domains))
	}
	file := filepath.Join(t.TempDir(), "domain.xml")
	for text, name := range domains {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), tool, file, "domain").CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s\n%s", name, err, out, text)
		}
	}
}
