package outcome_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/audit"
	"github.com/iotax/iotax/internal/audit/outcome"
	"github.com/iotax/iotax/internal/audit/outcome/outcometest"
	"github.com/iotax/iotax/internal/vmconf"
)

// Each finding has the place of its disk or machine, under the name that a reader knows it by, and the edit of its own file.
func TestAdd(t *testing.T) {
	o := outcometest.Default()
	for i, want := range []struct {
		subject vmconf.Place
		kind    string
		edits   int
		diff    string // a line of it
		qm      bool
		refused string
	}{
		{vmconf.Place{File: "db01.xml", Line: 5}, vmconf.Libvirt, 1, "+      <driver name='qemu' type='raw' cache='none'/>\n", false, ""},
		{vmconf.Place{File: "db01.xml", Line: 10}, vmconf.Libvirt, 1, "+      <target dev='vdb' bus='virtio'/>\n", false, ""},
		{vmconf.Place{File: "db01.xml", Line: 5}, vmconf.Libvirt, 2, "+  <iothreads>1</iothreads>\n", false, ""},
		{vmconf.Place{File: "db01.xml", Line: 1}, vmconf.Libvirt, 0, "", false, "db01.xml has no word for agent; and no place for it"},
		{vmconf.Place{File: "/etc/pve/qemu-server/100.conf", Line: 2}, vmconf.Proxmox, 1, "+scsihw: virtio-scsi-single\n", true, ""},
		{vmconf.Place{File: "/etc/pve/qemu-server/100.conf", Line: 1}, vmconf.Proxmox, 0, "", false, ""},
		{vmconf.Place{File: "/proc/4711/cmdline", Line: 1}, vmconf.QEMU, 1, "cache=none", false, ""},
		{vmconf.Place{}, "", 0, "", false, ""},
	} {
		f := o.Findings[i]
		if f.Subject != want.subject || f.Kind != want.kind || len(f.Edits) != want.edits || (f.QM != "") != want.qm || f.Refused != want.refused {
			t.Errorf("%d: %+v", i, f)
		}
		if (f.Diff == "") != (want.diff == "") || !strings.Contains(f.Diff, want.diff) || want.diff != "" && !strings.HasPrefix(f.Diff, "--- "+want.subject.File+"\n") {
			t.Errorf("%d: diff %s", i, f.Diff)
		}
	}
	if at := o.Findings[0].At.File; at != "db01.xml" {
		t.Error(at)
	}
	if u := o.Unknown; len(u) != 1 || u[0].At.File != "db01.xml" {
		t.Errorf("%+v", u)
	}
}

func TestCounts(t *testing.T) {
	o := outcometest.Default()
	if got := o.Disks(); got != 4 {
		t.Errorf("%d disks; those of a snapshot do not count", got)
	}
	if got := len(o.Machines()); got != 4 {
		t.Errorf("%d machines and parts", got)
	}
	counts := o.Count()
	if counts[audit.DataAtRisk] != 1 || counts[audit.LargeLoss] != 2 || counts[audit.SmallLoss] != 3 || counts[audit.Hygiene] != 2 {
		t.Errorf("%v", counts)
	}
}

func TestRelative(t *testing.T) {
	for _, tt := range [][3]string{
		{"/srv/vms", "/srv/vms/a.xml", "a.xml"},
		{"/srv/vms", "/srv/vms2/a.xml", "/srv/vms2/a.xml"},
		{"/", "/etc/a.xml", "/etc/a.xml"},
		{"/srv/vms", "/srv/vms", "/srv/vms"},
	} {
		if got := outcome.Relative(tt[0], tt[1]); got != tt[2] {
			t.Errorf("%s below %s: %s, want %s", tt[1], tt[0], got, tt[2])
		}
	}
}

// large is a configuration of 16 MiB that counts how often it is changed.
type large struct {
	text  []byte
	calls *int
}

func (l large) VMs() []vmconf.VM { return []vmconf.VM{{Name: "a"}} }
func (l large) Bytes() []byte    { return l.text }

func (l large) Change(int, []vmconf.Change) ([]byte, error) {
	*l.calls++
	return l.text, nil
}

// parts reads no more than a machine again.
type parts struct{ large }

func (parts) Extent(int) int { return 1 << 20 }

// What is read again to show changes is bounded, and what is left out is said.
func TestWorkIsBounded(t *testing.T) {
	calls := 0
	whole := large{bytes.Repeat([]byte("a\n"), vmconf.MaxBytes/2), &calls}
	f := audit.Finding{Rule: "IOT001", Changes: []audit.Change{{Setting: vmconf.SetCache, Value: "none"}}}
	for _, tt := range []struct {
		doc  vmconf.Document
		want int // changes
	}{
		{whole, 8},
		{parts{whole}, 120}, // a sixteenth for what is copied and compared
	} {
		calls = 0
		o := outcome.New("/", []outcome.Source{{Name: "/list.xml", Kind: vmconf.Libvirt, Doc: tt.doc}})
		for range 200 {
			o.Add([]audit.Finding{f})
		}
		if calls != tt.want {
			t.Errorf("changed %d times, want %d", calls, tt.want)
		}
		if last := o.Findings[199]; last.Refused == "" || o.Findings[0].Refused != "" {
			t.Errorf("refused: %q and %q", o.Findings[0].Refused, last.Refused)
		}
	}
}
