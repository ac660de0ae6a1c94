package xl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/vmconf"
)

func parse(t *testing.T, text string) *Document {
	t.Helper()
	d, err := Parse("d.cfg", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestParse(t *testing.T) {
	files, err := filepath.Glob("testdata/*.cfg")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			d, err := Parse(filepath.Base(path), data)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.MarshalIndent(d.VMs(), "", "\t")
			if err != nil {
				t.Fatal(err)
			}
			golden.Equal(t, strings.TrimSuffix(path, ".cfg")+".json", string(got)+"\n")
			if same, err := d.Change(0, nil); err != nil || !bytes.Equal(same, data) || !bytes.Equal(d.Bytes(), data) {
				t.Errorf("no change changes it: %v", err)
			}
		})
	}
}

// One disk in every way in which it can be written, and as xl serves it.
func TestDisk(t *testing.T) {
	const same = "xvda xen /dev/vg/lv raw phy block none  rw disk"
	for _, tt := range []struct{ spec, want string }{
		{"/dev/vg/lv,raw,xvda,rw", same},
		{"/dev/vg/lv,,xvda", same},
		{"/dev/vg/lv,raw,xvda,w", same},
		{"phy:/dev/vg/lv,xvda,w", same},
		{"phy:vg/lv,xvda,w", same},
		{"raw:/dev/vg/lv,xvda,w", same},
		{"ioemu:/dev/vg/lv,ioemu:xvda,w", same},
		{"format=raw, vdev=xvda, access=rw, target=/dev/vg/lv", same},
		{"vdev=xvda,target=/dev/vg/lv", same},
		{"/dev/vg/lv,vdev=xvda", same},
		{",raw,xvda,rw,target=/dev/vg/lv", same},
		{"/dev/vg/lv, , xvda, ,", same},
		{"/dev/vg/lv,,xvda,,backendtype=qdisk", "xvda xen /dev/vg/lv raw qdisk block writeback threads rw disk"},
		{"/dev/vg/lv,,xvda,,backendtype=qdisk,direct-io-safe", "xvda xen /dev/vg/lv raw qdisk block none native rw disk"},
		{"/dev/vg/lv,,xvda,,direct-io-safe", same}, // blkback does not look at it
		{"file:/srv/a.img,xvda1,r", "xvda1 xen /srv/a.img raw phy file writeback  ro disk"},
		{"tap:aio:/srv/a.img,xvda,w", "xvda xen /srv/a.img raw phy file writeback  rw disk"},
		{"tap2:tapdisk:aio:/srv/a.img,xvda,w", "xvda xen /srv/a.img raw phy file writeback  rw disk"},
		{"tap:qcow2:/srv/a.qcow2,xvda,w", "xvda xen /srv/a.qcow2 qcow2 qdisk file writeback threads rw disk"},
		{"/srv/a.qcow2,qcow2,xvda,,direct-io-safe", "xvda xen /srv/a.qcow2 qcow2 qdisk file none native rw disk"},
		{"/srv/a.vhd,vhd,xvda,,backendtype=tap", "xvda xen /srv/a.vhd vhd tap file none native rw disk"},
		{"vdev=xvda,target=/srv/a, b=c:d.img", "xvda xen /srv/a, b=c:d.img raw phy file writeback  rw disk"},
		{"/dev/vg/lv,,hda", "hda ide /dev/vg/lv raw phy block writeback threads rw disk"},
		{"/srv/a.qcow2,qcow2,hdb,rw,direct-io-safe", "hdb ide /srv/a.qcow2 qcow2 qdisk file writeback threads rw disk"},
		{"/dev/vg/lv,,sda", "sda lsi /dev/vg/lv raw phy block writeback threads rw disk"},
		{"/dev/vg/lv,,hda1", "hda1 xen /dev/vg/lv raw phy block none  rw disk"},
		{"/dev/vg/lv,,d5p2", "d5p2 xen /dev/vg/lv raw phy block none  rw disk"},
		{"/root/image.iso,,hdc,cdrom", "hdc ide /root/image.iso raw qdisk file writeback threads ro cdrom"},
		{"/root/image.iso,,hdc,,cdrom", "hdc ide /root/image.iso raw qdisk file writeback threads ro cdrom"},
		{"/root/image.iso,raw,hdc,devtype=cdrom", "hdc ide /root/image.iso raw qdisk file writeback threads ro cdrom"},
		{"raw:/root/image.iso,hdc:cdrom,ro", "hdc ide /root/image.iso raw qdisk file writeback threads ro cdrom"},
		{",hdc:cdrom,r", "hdc ide  raw qdisk none writeback threads ro cdrom"},
		{"vdev=hdc,devtype=cdrom,format=empty", "hdc ide  raw qdisk none writeback threads ro cdrom"},
		{"rbd:pool/image,raw,xvda,rw", "xvda xen rbd:pool/image raw qdisk network writeback threads rw disk"},
		{"iscsi:iqn.2001-04.org.example:x,xvda,w", "xvda xen iqn.2001-04.org.example:x raw phy network   rw disk"},
		{"drbd:r0,xvda,w", "xvda xen r0 raw phy block none  rw disk"},
		{"/x,raw,xvda,rw,script=/etc/own", "xvda xen /x raw phy    rw disk"},
		{"/dev/vg/lv,,xvda,,backendtype=standalone,specification=virtio", "xvda virtio-blk /dev/vg/lv raw standalone block   rw disk"},
	} {
		d := parse(t, "type='hvm'\ndisk=['"+tt.spec+"']").VMs()[0].Disks[0]
		mode := map[bool]string{true: "ro", false: "rw"}[d.ReadOnly]
		got := strings.Join([]string{
			d.ID, d.Bus.Value, d.Source.Value, d.Format.Value, d.XenBackend.Value, d.Backend, d.Cache.Value, d.AIO.Value, mode, d.Device,
		}, " ")
		if got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", tt.spec, got, tt.want)
		}
	}
}

func TestDiscard(t *testing.T) {
	for spec, want := range map[string]string{
		"/dev/x,,xvda": "unmap", "/dev/x,,xvda,r": "ignore", "/dev/x,,xvda,r,discard": "unmap", "/dev/x,,xvda,,no-discard": "ignore",
		"/dev/x,,hda": "ignore", "/dev/x,,hda,,discard": "ignore",
	} {
		if got := parse(t, "type='hvm'\ndisk=['"+spec+"']").VMs()[0].Disks[0].Discard; got.Value != want {
			t.Errorf("%s: %+v, want %s", spec, got, want)
		}
	}
}

// A PV domain has no emulated disks, whatever they are called.
func TestNothingIsEmulatedInPV(t *testing.T) {
	for _, kind := range []string{"", "type='pv'", "type='pvh'", "builder='linux'", "builder='generic'"} {
		d := parse(t, kind+"\ndisk=['/dev/vg/lv,,hda','/x.iso,,hdc,cdrom']").VMs()[0]
		for _, disk := range d.Disks {
			if disk.Bus.Value != vmconf.XenBlk {
				t.Errorf("%s: %s is on %s", kind, disk.ID, disk.Bus.Value)
			}
		}
		if len(d.Controllers) != 0 {
			t.Errorf("%s: %v", kind, d.Controllers)
		}
	}
}

func TestLanguage(t *testing.T) {
	for _, tt := range []struct{ text, name, memory string }{
		{`name="a"; memory=64`, "a", "67108864"},
		{"\xef\xbb\xbfname='a'\r\nmemory = '64'\r\n", "a", "67108864"},
		{"name = 'it\\'s' # the name\nmemory=0100", "it's", "67108864"},
		{`name = "\x41\102\t\"\q"` + "\nmemory='0x40'", "AB\t\"q", "67108864"},
		{"name='a'\nname+='b'\nmemory=1\nmemory=64", "ab", "67108864"},
		{"name='a'\nmemory='much'", "a", ""},
		{"name='a'\nmemory=9999999999999999999", "a", ""},
		{"name=''\nmaxmem=64", "", "67108864"},
		{"name=u'a'\nmemory=64", "", "67108864"}, // Python: the name is not known
	} {
		vm := parse(t, tt.text).VMs()[0]
		if vm.Name != tt.name || vm.Memory.Value != tt.memory {
			t.Errorf("%q: %q, %q; want %q, %q", tt.text, vm.Name, vm.Memory.Value, tt.name, tt.memory)
		}
	}
}

func TestFaults(t *testing.T) {
	for text, want := range map[string]string{
		"name='a\nvcpus=2\ndisk=['/x,raw,xvda'\nmemory=3\nvif=['a' 'b']": "" +
			"d.cfg:1  the string 'a is not closed; expected another quote\n" +
			"d.cfg:3  the list that begins here is not closed; expected a ] before line 4\n" +
			"d.cfg:5  no comma stands before 'b'; expected one",
		"disk = [\n'phy:/a,xvda,w'\n'phy:/b,xvdb,w']": "d.cfg:3  no comma stands before 'phy:/b,xvdb,w'; expected one",
		"disk = [ 'a',":                    "d.cfg:1  the list that begins here is not closed; expected a ] before line 1",
		"disk = [ , 'a']":                  "d.cfg:1  nothing stands before the comma; expected a value",
		"name='a'\ndisk+='b'\ndisk+=['c']": "d.cfg:3  disk += adds a list to a single value or the other way round; expected the same on both lines",
		"":                                 "d.cfg: no setting of a Xen domain is in it; expected the likes of name, memory and disk",
		"hello\nworld":                     "d.cfg: no setting of a Xen domain is in it; expected the likes of name, memory and disk",
		"name='a'\x00":                     "d.cfg: the file is not plain text; expected ASCII or UTF-8",
		"n\x00a\x00":                       "d.cfg: the file is not plain text; expected ASCII or UTF-8",
		"disk=" + strings.Repeat("[", 300): "d.cfg:1  lists are nested more than 200 deep; no program writes such a file",
	} {
		_, err := Parse("d.cfg", []byte(text))
		if errkind.CodeOf(err) != errkind.Usage {
			t.Errorf("%.60q: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, err.Error()); diff != "" {
			t.Errorf("%.60q:\n%s", text, diff)
		}
	}
}

// Nothing that fits the limit takes long, whatever it is.
func TestHostile(t *testing.T) {
	const size = vmconf.MaxBytes
	for name, unit := range map[string]string{
		"brackets": "[", "parentheses": "name=(\n", "braces": "{\n", "quotes": "'''\n", "values": "a=[1,1]\n", "more": "a+='0123456789'\n",
		"junk": "%$ ~", "words": "x y\n", "one word": "x", "escapes": `\x`, "backslashes": "\\\n", "expression": "name=1+2*",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			d, err := Parse("d.cfg", []byte("name='a'\ndisk=['/x,,xvda']\n"+strings.Repeat(unit, (size-40)/len(unit))))
			if took := time.Since(start); took > time.Minute {
				t.Errorf("%v", took)
			}
			if err != nil && (errkind.CodeOf(err) != errkind.Usage || strings.Count(err.Error(), "\n") > maxFaults) {
				t.Errorf("%.500v", err)
			}
			if err == nil && len(d.VMs()[0].Unknown) > 2*maxUnknown {
				t.Errorf("%d unknown", len(d.VMs()[0].Unknown))
			}
		})
	}
	_, err := Parse("d.cfg", make([]byte, size+1))
	if want := fmt.Sprintf("d.cfg: the file has %d bytes; expected a configuration of at most 16 MiB", size+1); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}
