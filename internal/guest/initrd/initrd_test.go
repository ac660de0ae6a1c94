package initrd

import (
	"bytes"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/u-root/u-root/pkg/cpio"

	"github.com/iotax/iotax/internal/guest/kernel"
)

func TestWrite(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	c := Content{
		Agent:    []byte("the agent"),
		Programs: []Program{{sh, "/bin/one"}, {sh, "/bin/two"}},
		Modules:  []kernel.Module{{Name: "virtio", Data: []byte("v")}, {Name: "virtio_pci", Data: []byte("p")}, {Name: "nvme", Data: []byte("n")}},
		Channel:  []string{"virtio_pci"},
	}
	var first, second bytes.Buffer
	for _, w := range []io.Writer{&first, &second} {
		if err := Write(w, c); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the same content gave different archives")
	}
	records, err := cpio.ReadAllRecords(cpio.Newc.Reader(bytes.NewReader(first.Bytes())))
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]string{}
	libc := false
	for _, r := range records {
		if _, twice := content[r.Name]; twice {
			t.Errorf("%s is there twice", r.Name)
		}
		data, err := io.ReadAll(io.NewSectionReader(r, 0, int64(r.FileSize)))
		if err != nil {
			t.Fatal(err)
		}
		content[r.Name] = string(data)
		libc = libc || strings.Contains(r.Name, "libc.so")
	}
	if content["init"] != "the agent" || content["modules/nvme.ko"] != "n" || !libc {
		t.Errorf("agent, modules or libraries are missing: %d records", len(records))
	}
	if got := content["modules/channel"]; got != "/modules/virtio.ko\n/modules/virtio_pci.ko\n" {
		t.Errorf("channel modules: %q", got)
	}
	if content["bin/one"] == "" || content["bin/one"] != content["bin/two"] {
		t.Error("the program is not there whole, twice")
	}
	if _, ok := content["dev/console"]; !ok {
		t.Error("no console: the agent could not say why it fails")
	}
}
