package emit

import (
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/spec"
)

// TestMatrix holds the disk of every bus with every cache mode and aio, in every language that has them.
func TestMatrix(t *testing.T) {
	for _, as := range []string{Libvirt, Proxmox, QEMU} {
		for _, bus := range spec.Buses {
			var b strings.Builder
			for _, s := range matrix(bus) {
				o := usual()
				o.DiskOnly, o.Path = true, "/srv/vm.raw"
				b.WriteString("== " + s.Cache + ", " + s.AIO + "\n" + shown(Make(as, s, o)))
			}
			if b.Len() > 0 { // not the buses of Xen and of no guest
				golden.Equal(t, filepath.Join("testdata", as, "bus", bus+".txt"), b.String())
			}
		}
	}
}

// TestVariants holds whole machines with all else that a stack can say.
func TestVariants(t *testing.T) {
	for _, as := range Languages {
		for name, v := range variants() {
			golden.Equal(t, filepath.Join("testdata", as, name+".txt"), shown(Make(as, v.stack, v.opts)))
		}
	}
}

func TestRefusals(t *testing.T) {
	base := func() (spec.Stack, Options) { v := variants()["plain"]; return v.stack, v.opts }
	for name, tt := range map[string]struct {
		as     string
		change func(*spec.Stack, *Options)
		want   []string
	}{
		"language": {"vbox", func(*spec.Stack, *Options) {}, []string{"expected one of libvirt, proxmox, qemu, xl"}},
		"host":     {QEMU, func(s *spec.Stack, _ *Options) { s.Bus = "host" }, []string{"runs on the host"}},
		"guest":    {QEMU, func(s *spec.Stack, _ *Options) { s.Bus = "null_blk" }, []string{"modprobe null_blk"}},
		"relative": {Libvirt, func(_ *spec.Stack, o *Options) { o.Path = "vm.raw" }, []string{"expected an absolute path"}},
		"control":  {XL, func(_ *spec.Stack, o *Options) { o.Path = "/a\nb" }, []string{"control character"}},
		"pool":     {QEMU, func(s *spec.Stack, _ *Options) { s.Storage, s.Pool = "lvm-thin", "data/a\nb" }, []string{"control character"}},
		"no UTF-8": {Libvirt, func(_ *spec.Stack, o *Options) { o.Path = "/a\xff" }, []string{"no UTF-8"}},
		"block":    {QEMU, func(_ *spec.Stack, o *Options) { o.Path = "/dev/sdb" }, []string{"measured in a file"}},
		"file":     {QEMU, func(s *spec.Stack, o *Options) { s.Storage, o.Path = "lvm", "/srv/x" }, []string{"measured on a block device"}},
		"format":   {Proxmox, func(_ *spec.Stack, o *Options) { o.Path = "local:7/vm-7-disk-0.qcow2" }, []string{"the stack is raw"}},
		"comma":    {Proxmox, func(_ *spec.Stack, o *Options) { o.Path = "/srv/a,b" }, []string{"parted by commas"}},
		"several at once": {Proxmox, func(s *spec.Stack, _ *Options) {
			s.Queues, s.QueueSize, s.L2CacheSize, s.VQMapping, s.Discard, s.DetectZeroes = 1, 64, 1<<20, 2, "unmap", "on"
		}, []string{"iothread-vq-mapping", "one for each vCPU", "queue size", "L2 cache", "detect_zeroes"}},
		"scsi of Proxmox VE": {Proxmox, func(s *spec.Stack, _ *Options) { s.Bus, s.IOThread = "virtio-scsi", true }, []string{"ignores it on virtio-scsi-pci"}},
		"one queue":          {Proxmox, func(s *spec.Stack, _ *Options) { s.Bus, s.Queues = "virtio-scsi-single", 1 }, []string{"is 2"}},
		"queue size":         {Libvirt, func(s *spec.Stack, _ *Options) { s.Bus, s.QueueSize = "virtio-scsi", 128 }, []string{"measured with 128"}},
		"long socket":        {QEMU, func(s *spec.Stack, o *Options) { s.Bus, o.Name = "vhost-user-blk", strings.Repeat("n", 120) }, []string{"at most 107 fit", "at most 107 fit"}},
		"xl":                 {XL, func(*spec.Stack, *Options) {}, []string{"in a machine of QEMU"}},
		"path of Xen": {XL, func(s *spec.Stack, o *Options) {
			s.Bus, s.Hypervisor, s.Backend, o.Path = "blkfront", "xen-pv", "phy", "/with blank"
		}, []string{"Xen's scripts cannot take"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := base()
			tt.change(&s, &o)
			_, err := Make(tt.as, s, o)
			if errkind.CodeOf(err) != errkind.Usage {
				t.Fatalf("%v: exit code %d", err, errkind.CodeOf(err))
			}
			var list errkind.List
			if !errors.As(err, &list) {
				list = errkind.List{err}
			}
			for _, want := range tt.want {
				if !slices.ContainsFunc(list, func(err error) bool { return strings.Contains(err.Error(), want) }) {
					t.Errorf("no fault has %q: %v", want, err)
				}
			}
			if len(list) > len(tt.want)+1 {
				t.Errorf("%d faults: %v", len(list), err)
			}
		})
	}
}

// TestWellFormed: whatever a path holds, the XML can be read, and says that path; a command in a comment does not end it.
func TestWellFormed(t *testing.T) {
	s := variants()["qcow2"].stack
	for _, path := range []string{"/a'b\"c", "/<&>", "/-- ]]>", "/é 漢", "/ends-"} {
		o := usual()
		o.Path = path
		c, err := Make(Libvirt, s, o)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := c.Commented()
		d := xml.NewDecoder(strings.NewReader(text))
		got := ""
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", path, err, text)
			}
			if e, ok := token.(xml.StartElement); ok && e.Name.Local == "source" {
				got = e.Attr[0].Value
			}
		}
		if got != path {
			t.Errorf("the source is %q, want %q", got, path)
		}
	}
}

// TestPresets: every stack of every preset is written in at least one language, or is nothing that could be.
func TestPresets(t *testing.T) {
	each := func(e spec.Experiment, s spec.Stack) {
		var errs []error
		for _, as := range Languages {
			o := usual()
			o.Guest = e.GuestOf(s)
			if _, err := Make(as, s, o); err != nil {
				errs = append(errs, err)
			}
		}
		if nothing := s.OnHost() || s.InsideGuest(); nothing != (len(errs) == len(Languages)) {
			t.Errorf("preset %s, stack %s: %v", e.Name, s.Name, errs)
		}
	}
	for _, p := range spec.Presets() {
		e, err := spec.Preset(p.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range e.Stacks {
			each(e, s)
		}
	}
}

// TestDocumentation compares the fields that are written with the table of docs/JSON.md: both ways, in order.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/JSON.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented, written []string
	for _, m := range regexp.MustCompile("(?m)^\\| a configuration \\| `([a-z_]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		documented = append(documented, m[1])
	}
	v := variants()["null-co"]
	c, err := Make(QEMU, v.stack, v.opts)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := WriteJSON(&out, "1.2", c); err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^  "([a-z_]+)": `).FindAllStringSubmatch(out.String(), -1) {
		written = append(written, m[1])
	}
	if d := cmp.Diff(documented, written); d != "" {
		t.Errorf("-documented +written:\n%s", d)
	}
	if strings.Contains(out.String(), "null,") || !strings.Contains(out.String(), `"commands": [],`) || !strings.Contains(string(page), "`"+Schema+"`") {
		t.Errorf("a list that is null, or a schema that is not documented:\n%s", out.String())
	}
}

func TestHostName(t *testing.T) {
	for in, want := range map[string]string{
		"virtio-blk": "virtio-blk", "disk.cache-none.aio-io_uring": "disk-cache-none-aio-io-uring", "_a_": "a",
		strings.Repeat("x", 62) + "-y": strings.Repeat("x", 62),
	} {
		if got := hostName(in); got != want {
			t.Errorf("hostName(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestGoldenFiles: no file is left of what is no test any more.
func TestGoldenFiles(t *testing.T) {
	names := slices.Collect(maps.Keys(variants()))
	for _, as := range Languages {
		files, err := filepath.Glob(filepath.Join("testdata", as, "*.txt"))
		if err != nil || len(files) != len(names) {
			t.Errorf("%s: %d golden files for %d variants, %v", as, len(files), len(names), err)
		}
	}
}
