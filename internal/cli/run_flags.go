package cli

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/unit"
)

// The presets that flags stand for, and what --resume means without the name of a run.
const (
	defaultPreset = "default"
	quickPreset   = "quick"
	lastPartial   = "last"
)

// runOptions is what `iotax run` was asked to do. Paths are absolute; "" and 0 mean "not given".
type runOptions struct {
	Preset string // a preset's name, "" when File or Resume says what to measure
	File   string
	Plan   bool
	Scale  string // of the experiment, "" for the one that it has
	ICF    string // Iometer file whose access specifications are the workloads
	Resume string // a run's id or its first letters, lastPartial for the newest that ended early

	JSON, HTML string // where to write reports besides; "-" is standard output
	Seed       *uint64
	Budget     time.Duration
	Detect     float64
	Size       int64          // bytes of every scratch volume
	Limit      *analyse.Limit // on the latency, for what is printed at the end

	Scratch  string // folder
	Device   string // block device
	VG       string // volume group for volumes of LVM
	ThinPool string // "group/pool" for thin ones
	ZPool    string // pool or dataset for files and volumes of ZFS
	SPDK     string // socket of a running spdk_tgt

	Erase  bool // Device may be erased even when it carries data
	Polite bool
	Wait   bool

	Accel                      string // auto, kvm or tcg
	QEMU, Fio, Kernel, Modules string // paths

	NoProgress, Quiet bool
}

// runFlags are the options as they stand on the command line.
type runFlags struct {
	runOptions
	quick bool
	seed  uint64
	erase string
}

func (f *runFlags) register(cmd *cobra.Command, presets func() []string) {
	s := cmd.Flags()
	s.SortFlags = false
	s.BoolVar(&f.quick, "quick", false, "fewer stacks and workloads, about four minutes; short for --preset quick")
	s.StringVar(&f.Preset, "preset", "", "measure the preset `NAME` (default \"default\"; see iotax presets)")
	s.StringVarP(&f.File, "file", "f", "", "measure the experiment in `FILE` (YAML)")
	s.StringVar(&f.Scale, "scale", "", "size and times of a preset: tiny (for trials), small or article, as far as it has them")
	s.StringVar(&f.ICF, "icf", "", "take the workloads from the access specifications of Iometer's `FILE`")
	s.BoolVar(&f.Plan, "plan", false, "print boots, rounds, cells, space and time, and do nothing")
	s.StringVar(&f.Resume, "resume", "", "go on with `RUN`, or with the newest run that ended early")
	s.Lookup("resume").NoOptDefVal = lastPartial

	s.StringVar(&f.JSON, "json", "", "write the result as JSON to `FILE` (- for standard output)")
	s.StringVar(&f.HTML, "html", "", "write the HTML report to `FILE` instead of the state folder")
	s.Uint64Var(&f.seed, "seed", 0, "`N` that decides order and offsets (default: a new one each run)")
	parsedFlag(cmd, &f.Budget, unit.ParseDuration, "budget", "measure for at most `TIME`, such as 10m")
	parsedFlag(cmd, &f.Detect, spec.ParseShare, "detect", "measure until a difference of `SHARE`, such as 5%, would be found; sets the budget unless --budget does")
	limitFlag(cmd, &f.Limit)
	parsedFlag(cmd, &f.Size, unit.ParseBytes, "size", "`SIZE` of every scratch volume, such as 2G")

	s.StringVar(&f.Scratch, "scratch", "", "put scratch volumes into the folder `DIR`")
	s.StringVar(&f.Device, "device", "", "measure on the block device `DEV`; refused when it carries data")
	s.StringVar(&f.erase, "erase", "", "yes, erase what `DEV` carries; must name the device of --device")
	s.StringVar(&f.VG, "vg", "", "make volumes of LVM in the volume group `VG` instead of one for the run")
	s.StringVar(&f.ThinPool, "thin-pool", "", "make thin volumes in `VG/POOL` instead of pools for the run")
	s.StringVar(&f.ZPool, "zpool", "", "make files and volumes of ZFS below the `POOL` or dataset instead of a pool for the run")
	s.StringVar(&f.SPDK, "spdk", "", "the `SOCKET` of a running spdk_tgt instead of one for the run")
	s.BoolVar(&f.Polite, "polite", false, "lower the priority of CPU and I/O for the sake of other machines")
	s.BoolVar(&f.Wait, "wait", false, "wait for another iotax to end instead of refusing")

	enumFlag(cmd, &f.Accel, "accel", "accelerator of the guest", "auto", "kvm", "tcg")
	s.StringVar(&f.QEMU, "qemu", "", "QEMU program `PATH`")
	s.StringVar(&f.Fio, "fio", "", "fio program `PATH`")
	s.StringVar(&f.Kernel, "kernel", "", "guest kernel `FILE`")
	s.StringVar(&f.Modules, "modules", "", "modules of the guest kernel, a folder `DIR` like /lib/modules/VERSION")

	s.BoolVar(&f.NoProgress, "no-progress", false, "no live progress, only lines")
	s.BoolVarP(&f.Quiet, "quiet", "q", false, "print nothing but faults")

	complete(cmd, "preset", presets)
	cobra.CheckErr(cmd.MarkFlagFilename("file", "yaml", "yml"))
	cobra.CheckErr(cmd.MarkFlagFilename("icf", "icf"))
	cobra.CheckErr(cmd.MarkFlagDirname("scratch"))
	cobra.CheckErr(cmd.MarkFlagDirname("modules"))
}

// options checks the flags against each other and makes paths absolute. It returns every fault at once.
func (f *runFlags) options(a *app, cmd *cobra.Command, args []string) (runOptions, error) {
	given := cmd.Flags().Changed
	o := f.runOptions
	var faults errkind.List
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, errkind.Userf(format, args...))
		}
	}
	what := givenOf(given, "quick", "preset", "file", "resume")
	fault(len(what) > 1, "%s exclude each other: each says what to measure", what)
	for _, name := range []string{"seed", "detect", "size", "scale", "icf", "vg", "thin-pool", "zpool"} {
		fault(given("resume") && given(name), "--%s cannot go with --resume: a resumed run keeps its own", name)
	}
	if len(args) == 1 {
		fault(!given("resume"), "a run (%q) is named only with --resume; a preset goes with --preset, a file with --file", args[0])
		fault(given("resume") && o.Resume != lastPartial, "--resume names two runs: %q and %q", o.Resume, args[0])
		o.Resume = args[0]
	}
	fault(given("budget") && o.Budget <= 0, "--budget must be more than 0")
	fault(given("detect") && o.Detect <= 0, "--detect must be more than 0")
	fault(given("size") && o.Size <= 0, "--size must be more than 0")
	fault(given("scratch") && given("device"), "--scratch and --device exclude each other: each says where to measure")
	fault(given("erase") && !given("device"), "--erase confirms --device, which is not given")
	fault(given("erase") && given("device") && filepath.Clean(a.Abs(f.erase)) != filepath.Clean(a.Abs(o.Device)),
		"--erase %s does not name the device of --device %s", f.erase, o.Device)
	fault(given("modules") && !given("kernel"), "--modules needs the --kernel that they belong to")
	for _, name := range []string{"preset", "file", "scale", "icf", "json", "html", "scratch", "device", "vg", "thin-pool", "zpool", "spdk", "erase", "qemu", "fio", "kernel", "modules"} {
		fault(given(name) && cmd.Flag(name).Value.String() == "", "--%s is empty", name)
	}
	fault(o.JSON == "-" && o.HTML == "-", "--json and --html cannot both go to standard output")

	if err := faults.Err(); err != nil {
		return runOptions{}, err
	}
	f.imply(a, given, &o)
	return o, nil
}

// imply fills in what the flags imply.
func (f *runFlags) imply(a *app, given func(string) bool, o *runOptions) {
	switch {
	case f.quick:
		o.Preset = quickPreset
	case len(givenOf(given, "preset", "file", "resume")) == 0:
		o.Preset = defaultPreset
	}
	if given("seed") {
		o.Seed = &f.seed
	}
	o.Erase = given("erase")
	o.JSON, o.HTML = a.file(o.JSON), a.file(o.HTML)
	for _, path := range []*string{&o.File, &o.ICF, &o.Scratch, &o.Device, &o.SPDK, &o.Kernel, &o.Modules} {
		*path = a.Abs(*path)
	}
	for _, program := range []*string{&o.QEMU, &o.Fio} {
		if strings.Contains(*program, "/") { // a bare name is looked up on PATH, as a shell does
			*program = a.Abs(*program)
		}
	}
}

// flagList is the flags of a fault, as a person writes them.
type flagList []string

func (l flagList) String() string {
	return "--" + strings.Join(l, " and --")
}

func givenOf(given func(string) bool, names ...string) (l flagList) {
	for _, name := range names {
		if given(name) {
			l = append(l, name)
		}
	}
	return l
}
