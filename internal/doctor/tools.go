package doctor

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// fio before 3.3 hardly scrambled its write buffers: storage that compresses or finds duplicates was given data that
// shrinks, and wrote faster than it can.
const fioMajor, fioMinor = 3, 3

// Older QEMU lack too much of what the stacks are made of.
const qemuMajor, qemuMinor = 5, 2

func (x *exam) tools(ctx context.Context) {
	x.askQEMU(ctx)
	x.program("qemu-img", func(path string) { x.ok(Tools, "qemu-img", path) })
	x.program("fio", func(path string) {
		x.fio = path
		x.judgeFio(ctx)
	})
	if path, err := x.LookPath("ioping"); err == nil {
		x.ioping = path
		x.ok(Tools, "ioping", path)
	} else {
		x.add(Finding{Area: Tools, What: "ioping", State: OK, Why: "not installed; it is optional", Mend: x.install("ioping")})
	}
}

// program looks for one that a run cannot do without.
func (x *exam) program(name string, found func(path string)) {
	path, err := x.LookPath(name)
	if err != nil {
		x.add(Finding{Area: Tools, What: name, State: Cannot, Why: "not installed", Mend: x.install(name), Blocks: true})
		return
	}
	found(path)
}

func (x *exam) askQEMU(ctx context.Context) {
	x.program("qemu-system-x86_64", func(path string) {
		c, err := x.Caps(ctx, path)
		if err != nil {
			x.blocked(Tools, "QEMU", err)
			return
		}
		x.qemu, x.caps = path, &c
		why := fmt.Sprintf("%s, %s", c.Version, path)
		if !c.Version.AtLeast(qemuMajor, qemuMinor) {
			x.warn(Tools, "QEMU", fmt.Sprintf("%s: older than %d.%d, the first with all that iotax asks of it", why, qemuMajor, qemuMinor), "install a newer QEMU")
			return
		}
		x.ok(Tools, "QEMU", why)
	})
}

func (x *exam) judgeFio(ctx context.Context) {
	out, err := x.Run(ctx, x.fio, "--version")
	if err != nil {
		x.blocked(Tools, "fio", err)
		x.fio = ""
		return
	}
	version := strings.TrimPrefix(strings.TrimSpace(string(out)), "fio-")
	why := version + ", " + x.fio
	major, minor, known := fioVersion(version)
	switch {
	case !known:
		x.warn(Tools, "fio", why+": the version cannot be read", "")
	case major < fioMajor || major == fioMajor && minor < fioMinor:
		x.warn(Tools, "fio", fmt.Sprintf("%s: before %d.%d the data that it wrote could be compressed, which flatters storage that does so", why, fioMajor, fioMinor),
			"install a newer fio")
	default:
		x.ok(Tools, "fio", why)
	}
}

var fioForm = regexp.MustCompile(`^(\d+)\.(\d+)`)

// fioVersion reads "3.33", "2.1.11" and "3.39-14-gd2b2". It compares by number: 3.33 is later than 3.4.
func fioVersion(s string) (major, minor int, ok bool) {
	m := fioForm.FindStringSubmatch(s)
	if m == nil {
		return 0, 0, false
	}
	major, errMajor := strconv.Atoi(m[1])
	minor, errMinor := strconv.Atoi(m[2])
	return major, minor, errMajor == nil && errMinor == nil
}
