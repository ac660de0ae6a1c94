package lvm2

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/sys"
)

func TestArguments(t *testing.T) {
	for name, tool := range map[string]Tool{
		"host": {Udev: true}, "host-without-udev": {},
		"own":              {Udev: true, Devices: []string{"/dev/loop3"}},
		"own-without-udev": {Devices: []string{"/dev/sdb1", "/dev/sdb2"}},
	} {
		args := tool.args("vgremove", "--yes", "iotax-r-1")
		golden.Equal(t, "testdata/"+name+".args", strings.Join(args, "\n")+"\n")
	}
}

const report = `{
  "report": [
    {"lv": [
      {"lv_name":"a", "lv_size":"104857600", "data_percent":"29.98", "lv_tags":"x,iotax-r", "segtype":""}
    ]},
    {"lv": [{"lv_name":"b", "lv_size":"", "data_percent":"", "lv_tags":""}]}
  ],
  "log": []
}`

func TestParse(t *testing.T) {
	rows, err := Parse([]byte(report), "lv")
	if err != nil {
		t.Fatal(err)
	}
	want := []Row{
		{"lv_name": "a", "lv_size": "104857600", "data_percent": "29.98", "lv_tags": "x,iotax-r", "segtype": ""},
		{"lv_name": "b", "lv_size": "", "data_percent": "", "lv_tags": ""},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Fatal(diff)
	}
	if n, err := rows[0].Int("lv_size"); n != 104857600 || err != nil {
		t.Errorf("size %d, %v", n, err)
	}
	if n, err := rows[0].Share("data_percent"); n < 0.2997 || n > 0.2999 || err != nil {
		t.Errorf("share %v, %v", n, err)
	}
	for _, field := range []string{"lv_size", "data_percent", "none"} {
		if _, err := rows[1].Int(field); err == nil {
			t.Errorf("a number in %s of %v", field, rows[1])
		}
		if _, err := rows[1].Share(field); err == nil {
			t.Errorf("a share in %s of %v", field, rows[1])
		}
	}
	for tag, is := range map[string]bool{"iotax-r": true, "x": true, "iotax": false, "": false} {
		if rows[0].Tagged("lv_tags", tag) != is {
			t.Errorf("tagged %q: %v", tag, !is)
		}
	}
	for _, bad := range []string{"", "[]", "{}", `{"report":[]}`, `{"report":[{"vg":[]}]}`, `{"report":[{"lv":[{"lv_size":1}]}]}`, `{"report":[{"lv":{}}]}`} {
		if _, err := Parse([]byte(bad), "lv"); err == nil {
			t.Errorf("took %s", bad)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(report))
	f.Fuzz(func(t *testing.T, text []byte) {
		rows, err := Parse(text, "lv")
		if err != nil {
			return
		}
		for _, row := range rows {
			for field := range row {
				if n, err := row.Int(field); err == nil && n < 0 {
					t.Errorf("%s=%d", field, n)
				}
				if n, err := row.Share(field); err == nil && !(n >= 0 && n <= 1) {
					t.Errorf("%s=%v", field, n)
				}
			}
		}
	})
}

// host is a machine with some programs, which all say the same.
type host struct {
	programs []string
	says     string
	fails    error
	asked    *sys.Command
}

func (h host) LookPath(name string) (string, error) {
	if slices.Contains(h.programs, name) {
		return name, nil
	}
	return "", errors.New("none")
}

func (h host) Run(_ context.Context, c sys.Command) ([]byte, error) {
	*h.asked = c
	return []byte(h.says), h.fails
}

func TestReports(t *testing.T) {
	var asked sys.Command
	h := host{programs: []string{"/sbin/lvm"}, says: report, asked: &asked}
	rows, err := Tool{Udev: true}.Volumes(t.Context(), h, Select("vg0", "a"), "lv_name", "lv_size")
	if err != nil || len(rows) != 2 {
		t.Fatalf("%v, %v", rows, err)
	}
	want := []string{
		"/sbin/lvm", "lvs", "--reportformat", "json", "--units", "b", "--nosuffix", "--options", "lv_name,lv_size",
		"--select", `vg_name="vg0" && lv_name="a"`,
	}
	if diff := cmp.Diff(want, asked.Argv); diff != "" {
		t.Error(diff)
	}
	if !slices.Contains(asked.Env, "LC_ALL=C") {
		t.Errorf("environment %q", asked.Env)
	}
	h.fails = errors.New("exit status 5")
	if _, err := (Tool{}).Groups(t.Context(), h, "", "vg_name"); !errors.Is(err, h.fails) {
		t.Errorf("a command that failed: %v", err)
	}
	h.programs = nil
	if _, err := (Tool{}).Groups(t.Context(), h, "", "vg_name"); errkind.CodeOf(err) != errkind.Usage || Installed(h) {
		t.Errorf("without LVM: %v", err)
	}
}
