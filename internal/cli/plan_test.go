package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/errkind"
)

// twoGuests needs a pc and a q35, and has more to do than time for it.
const twoGuests = `title: Two machines whose title is far too long for one line of a terminal that has eighty columns
size: 1GiB
budget: 1m
boots: 1
stacks:
  - name: disk
    bus: virtio-blk
    machine: q35
    matrix:
      cache: [none, directsync]
      aio: [threads, native, io_uring]
  - name: old
    bus: ide
workloads: [randread-4k-q1]
`

func TestPlan(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "two-guests.yaml")
	if err := os.WriteFile(file, []byte(twoGuests), 0o600); err != nil {
		t.Fatal(err)
	}
	icf := filepath.Join(dir, "lab.icf")
	if err := os.WriteFile(icf, []byte(accessSpecs), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"default":    {"run", "--plan"},
		"quick":      {"run", "--plan", "--quick", "--seed", "7"},
		"two-guests": {"run", "--plan", "-f", file},
		"tiny":       {"run", "--plan", "--preset", "local-disks", "--scale", "tiny"},
		"icf":        {"run", "--plan", "--quick", "--icf", icf},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			a := testApp(dir, nil, &stdout, &stderr, args...) // without HOME: a plan needs no place to keep files
			a.Width = func(any) int { return 80 }
			if code := errkind.Code(a.main(t.Context())); code != errkind.OK || stderr.Len() > 0 {
				t.Fatalf("code %d, stderr %s", code, stderr.String())
			}
			for line := range strings.Lines(stdout.String()) {
				if len(line) > 81 {
					t.Errorf("%d columns: %s", len(line)-1, line)
				}
			}
			checkGolden(t, "plan/"+name+".golden", stdout.String())
		})
	}
}

// accessSpecs is an Iometer file with two specifications.
const accessSpecs = `Version 1.1.0
'ACCESS SPECIFICATIONS =========================================================
'Access specification name,default assignment
	Web server,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
	4096,60,100,100,0,1,0,0
	65536,40,100,100,0,1,0,0
'Access specification name,default assignment
	Backup,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
	1048576,100,0,0,0,1,0,0
'End access specifications
Version 1.1.0
`

func TestExperimentFlags(t *testing.T) {
	dir := t.TempDir()
	broken, icf := filepath.Join(dir, "broken.icf"), filepath.Join(dir, "lab.icf")
	for path, text := range map[string]string{icf: accessSpecs, broken: strings.Replace(accessSpecs, "4096,60", "4096,sixty", 1)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no such scale":     {[]string{"--preset", "controllers", "--scale", "tinny"}, `did you mean "tiny"?`},
		"one scale":         {[]string{"--quick", "--scale", "tiny"}, "has one scale only"},
		"no such file":      {[]string{"--icf", filepath.Join(dir, "none.icf")}, "no such file"},
		"a broken line":     {[]string{"--icf", broken}, "broken.icf:6:"},
		"an empty flag":     {[]string{"--vg", ""}, "--vg is empty"},
		"a pool of no use":  {[]string{"--preset", "controllers", "--vg", "vg0"}, "--vg: no stack of controllers is a volume of LVM"},
		"ZFS of no use":     {[]string{"--preset", "qemu-tuning", "--zpool", "tank"}, "--zpool: no stack of qemu-tuning is on ZFS"},
		"thin pool no use":  {[]string{"--preset", "local-disks", "--thin-pool", "vg0/p"}, "--thin-pool: no stack of local-disks is a thin volume"},
		"SPDK of no use":    {[]string{"--preset", "controllers", "--spdk", "spdk.sock"}, "--spdk: no stack of controllers is served by SPDK"},
		"a scale to resume": {[]string{"--resume", "--scale", "tiny"}, "--scale cannot go with --resume"},
	} {
		var stdout, stderr bytes.Buffer
		a := testApp(dir, nil, &stdout, &stderr, append([]string{"run", "--plan"}, c.args...)...)
		code := errkind.Code(a.main(t.Context()))
		if said := stderr.String(); code != errkind.Usage || !strings.Contains(said, c.want) {
			t.Errorf("%s: code %d, %q; want %q", name, code, said, c.want)
		}
	}
}

func TestPools(t *testing.T) {
	a := testApp(t.TempDir(), nil, &bytes.Buffer{}, &bytes.Buffer{})
	e, err := a.experiment(runOptions{Preset: "qemu-tuning", VG: "vg0", ThinPool: "vg0/pool"})
	if err != nil {
		t.Fatal(err)
	}
	pools := map[string]string{}
	for _, s := range e.Stacks {
		pools[s.Name] = s.Pool
	}
	if pools["lvm"] != "vg0" || pools["thin-4m"] != "vg0/pool" || pools["device"] != "" || pools["stock"] != "" {
		t.Errorf("pools %v", pools)
	}
}

func TestPlanOfAResumedRun(t *testing.T) {
	dir := t.TempDir()
	if err := storeRun(dir, "7k2f", "partial"); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	a := testApp(dir, map[string]string{"IOTAX_STATE": dir}, &stdout, &stderr, "run", "--plan", "--resume")
	if code := errkind.Code(a.main(t.Context())); code != errkind.OK {
		t.Fatalf("code %d, stderr %s", code, stderr.String())
	}
	if !strings.Contains(stdout.String(), "note:  run 7k2f keeps the 12 windows") || !strings.Contains(stdout.String(), "seed     41 ") {
		t.Error(stdout.String())
	}
}
