package spec

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
)

// TestSchemaIsTheTypes checks that the YAML keys are the JSON names of the types, all of them.
func TestSchemaIsTheTypes(t *testing.T) {
	for _, c := range []struct {
		of   any
		keys []string
	}{
		{Experiment{}, append(slices.Collect(maps.Keys(experimentSchema)), "guest", "stacks", "workloads", "statements", "figures", "scales")},
		{Guest{}, slices.Collect(maps.Keys(guestSchema))},
		{Stack{}, slices.Collect(maps.Keys(stackSchema))},
		{Workload{}, slices.Collect(maps.Keys(workloadSchema))},
		{Scale{}, slices.Collect(maps.Keys(scaleSchema))},
		{Statement{}, slices.Collect(maps.Keys(statementSchema))},
		{Figure{}, slices.Collect(maps.Keys(figureSchema))},
		{Step{}, slices.Collect(maps.Keys(stepSchema))},
	} {
		var want []string
		for f := range reflect.TypeOf(c.of).Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			want = append(want, name)
		}
		slices.Sort(want)
		slices.Sort(c.keys)
		if diff := cmp.Diff(want, c.keys); diff != "" {
			t.Errorf("%T (-type +schema):\n%s", c.of, diff)
		}
	}
}

func TestPresets(t *testing.T) {
	var names []string
	for _, p := range Presets() {
		names = append(names, p.Name)
		e, err := Preset(p.Name)
		if err != nil {
			t.Fatal(err)
		}
		if err := Validate(e); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if e.Name != p.Name || p.Title == "" || p.Stacks != len(e.Stacks) || p.Workloads != len(e.Workloads) || p.Budget != e.Budget {
			t.Errorf("%s is listed as %+v", p.Name, p)
		}
		for _, s := range e.Stacks {
			if len(s.Title) > 28 || s.Title == s.Name && s.Name != "virtio-blk" {
				t.Errorf("%s: title %q of stack %s: want one of at most 28 letters", p.Name, s.Title, s.Name)
			}
		}
		for _, w := range e.Workloads {
			if len(w.Title) > 17 {
				t.Errorf("%s: title %q of workload %s is too wide for a column", p.Name, w.Title, w.Name)
			}
		}
		checkGolden(t, "testdata/presets/"+p.Name+".want", render(t, e, nil))
		for scale := range e.Scales {
			if _, err := e.AtScale(scale); err != nil {
				t.Errorf("%s at scale %s: %v", p.Name, scale, err)
			}
		}
	}
	if diff := cmp.Diff([]string{
		"cdm-3", "cdm-5", "cdm-6", "cdm-7", "cdm-8", "cdm-nvme", "cdm-peak", "cdm-real", "controllers", "database", "default",
		"image-formats", "iometer-1.1", "iometer-2008", "layers", "local-disks", "qemu-tuning", "quick", "zfs-volumes",
	}, names); diff != "" {
		t.Error(diff)
	}
	if _, err := Preset("defualt"); errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), `did you mean "default"?`) {
		t.Errorf("a misspelt preset: %v", err)
	}
	if _, err := Preset("../presets/quick"); errkind.CodeOf(err) != errkind.Usage {
		t.Errorf("a path for a preset: %v", err)
	}
}

// TestPresetYAML checks that a preset that is copied into a file is the same experiment under the name of the file.
func TestPresetYAML(t *testing.T) {
	for _, p := range Presets() {
		text, err := PresetYAML(p.Name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse("mine.yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := Preset(p.Name)
		want.Name = "mine"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", p.Name, diff)
		}
	}
	if _, err := PresetYAML("qiuck"); errkind.CodeOf(err) != errkind.Usage {
		t.Errorf("a misspelt preset: %v", err)
	}
}

// TestValidateInCode checks an experiment without a file: the same rules, no positions, in the order of the rules.
func TestValidateInCode(t *testing.T) {
	e, err := Preset("quick")
	if err != nil {
		t.Fatal(err)
	}
	e.Size = 1000
	e.Stacks[1].Cache, e.Stacks[1].AIO = "writeback", "native"
	e.Stacks[2].Name = e.Stacks[0].Name
	e.Workloads[0].IODepth = 0
	err = Validate(e)
	want := `size: 1000 B is not allowed; expected whole MiB, such as 512MiB
stacks[2].name: "virtio-blk-iothread" names another stack too; expected a name of its own
stacks[1].cache: "writeback" cannot go with aio "native": native needs cache none or directsync
workloads[0].iodepth: 0 is out of range; expected 1 to 1024`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
	var list errkind.List
	if !errors.As(err, &list) || len(list) != 4 || errkind.CodeOf(err) != errkind.Usage {
		t.Errorf("%T of %d with code %d; want a List of 4 user faults", err, len(list), errkind.CodeOf(err))
	}
}

func TestValidateEdges(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Experiment)
		want   string // "" for none
	}{
		"as it is":           {func(*Experiment) {}, ""},
		"empty":              {func(e *Experiment) { *e = Experiment{} }, "stacks: there are none"},
		"shortest runtime":   {func(e *Experiment) { e.Runtime = 100 * time.Millisecond }, ""},
		"runtime too short":  {func(e *Experiment) { e.Runtime = 100*time.Millisecond - 1 }, "runtime: "},
		"no overflow":        {func(e *Experiment) { e.Runtime, e.Budget = 1<<62, 1<<62 }, "budget: "},
		"endless":            {func(e *Experiment) { e.Budget = 1 << 62 }, "more than 30 days"},
		"negative ramp":      {func(e *Experiment) { e.Ramp = -1 }, "ramp: is negative"},
		"target zero":        {func(e *Experiment) { e.Target = 0 }, "target: "},
		"five IDE disks":     {func(e *Experiment) { e.Stacks = many("ide", 5) }, ""},
		"seven SATA disks":   {func(e *Experiment) { e.Stacks = many("sata", 7) }, ""},
		"257 stacks":         {func(e *Experiment) { e.Stacks, e.Budget = many("nvme", 257), 20*24*time.Hour }, "257 are too many"},
		"queues as CPUs":     {func(e *Experiment) { e.Stacks[0].Queues = 2 }, ""},
		"queues over CPUs":   {func(e *Experiment) { e.Stacks[0].Queues = 3 }, "more than the guest has CPUs, 2"},
		"ide on pc":          {func(e *Experiment) { e.Stacks[4].Bus, e.Stacks[4].Machine = "ide", "pc" }, ""},
		"null-co and native": {func(e *Experiment) { e.Stacks[5].AIO = "native" }, ""},
		"newline in a name":  {func(e *Experiment) { e.Stacks[0].Name = "a\nb" }, "is not a name"},
		"control by name":    {func(e *Experiment) { e.Stacks[0].Name = Control }, "is the host itself"},
		"workload host":      {func(e *Experiment) { e.Workloads[0].Name = Host }, ""},
		"bs of the volume":   {func(e *Experiment) { e.Workloads[0].BS = e.Size }, ""},
		"bs over the volume": {func(e *Experiment) { e.Workloads[0].BS = e.Size + 512 }, "more than a volume holds"},
		"shared agrees":      {func(e *Experiment) { e.Stacks = many("virtio-scsi", 3) }, ""},
	} {
		e, err := Preset("quick")
		if err != nil {
			t.Fatal(err)
		}
		c.change(&e)
		err = Validate(e)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
		if err != nil && strings.Count(err.Error(), "\n") != len(err.(errkind.List))-1 {
			t.Errorf("%s: not one line per fault: %v", name, err)
		}
	}
}

func many(bus string, n int) []Stack {
	var s []Stack
	for i := range n {
		s = append(s, Stack{Name: bus + "-" + string(rune('a'+i%26)) + string(rune('a'+i/26)), Bus: bus})
	}
	return s
}
