package xen

import (
	"errors"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/xen/xlcfg"
)

const list = `Name                                        ID   Mem VCPUs	State	Time(s)
Domain-0                                     0  1500     1     r-----      34.1
iotax-r-guest                                3   256     2     -b----       2.1
`

// What Xen 4.17 logs of a PVH domain that uses RDTSCP under emulation, and of others.
const dmesg = `(XEN) Freed 656kB init memory
(XEN) d3v0 SVM Insn len emulation failed (1): d3v0 64bit @ 0010:ffffffff81069e2a -> 0f 01 f9
(XEN) d33v0 Triple fault
(XEN) common/grant_table.c:1909:d0v0 Expanding d1 grant table from 1 to 2 frames
`

func TestStateOf(t *testing.T) {
	for state, want := range map[string]string{
		"-b----": "", "r-----": "", "------": "", "--p---": "is paused", "---s--": "shut itself down", "---sc-": "crashed",
	} {
		if got := stateOf(strings.Replace(list, "-b----", state, 1), "iotax-r-guest"); got != want {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
	if got := stateOf(list, "iotax-r"); !strings.HasPrefix(got, "is gone") {
		t.Errorf("a domain that is not there: %q", got)
	}
}

func TestLastAbout(t *testing.T) {
	for id, want := range map[string]string{
		"3":  "d3v0 SVM Insn len emulation failed (1): d3v0 64bit @ 0010:ffffffff81069e2a -> 0f 01 f9",
		"33": "d33v0 Triple fault",
		"1":  "common/grant_table.c:1909:d0v0 Expanding d1 grant table from 1 to 2 frames",
		"2":  "",
	} {
		if got := lastAbout(dmesg, id); got != want {
			t.Errorf("domain %s: %q, want %q", id, got, want)
		}
	}
}

func TestExplain(t *testing.T) {
	silent := errors.New("the guest went silent")
	for name, tt := range map[string]struct {
		console, state, log string
		want                string
	}{
		"panic":       {"[ 1.0] Kernel panic - not syncing: no init\n", "---sc-", dmesg, "the guest said: [ 1.0] Kernel panic - not syncing: no init (the guest went silent)"},
		"crash":       {"", "---sc-", "", "the domain crashed (the guest went silent)"},
		"Xen's fault": {"", "-b----", dmesg, "Xen said: d3v0 SVM Insn len emulation failed (1): d3v0 64bit @ 0010:ffffffff81069e2a -> 0f 01 f9 (the guest went silent)"},
		"both":        {"", "--p---", "(XEN) d3v1 stuck\n", "the domain is paused; Xen said: d3v1 stuck (the guest went silent)"},
		"nothing":     {"", "r-----", "", "the guest went silent"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &Domain{id: "3", cfg: xlcfg.Config{Name: "iotax-r-guest"}, console: newListener()}
			d.c.Runner = toolstack{answers: map[string]string{"xl list": strings.Replace(list, "-b----", tt.state, 1), "xl dmesg": tt.log}}
			_, heard := d.console.Write([]byte(tt.console))
			if (heard != nil) != strings.Contains(tt.console, "panic") {
				t.Errorf("the console goes on with %v", heard)
			}
			err := d.Explain(silent)
			if err.Error() != tt.want || !errors.Is(err, silent) {
				t.Errorf("got %q, want %q", err, tt.want)
			}
			if again := d.Explain(err); again.Error() != err.Error() {
				t.Errorf("explained twice: %q", again)
			}
		})
	}
	d := &Domain{id: "3", console: newListener()}
	d.c.Runner = toolstack{} // a toolstack that is gone too
	if err := d.Explain(silent); !errors.Is(err, silent) || err.Error() != silent.Error() {
		t.Errorf("got %v", err)
	}
}
