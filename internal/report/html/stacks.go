package html

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/unit"
)

// stackView is what one stack really was.
type stackView struct {
	Name, Title   string
	Best          bool
	Durability    durability
	DurabilityWhy string
	Unavailable   string
	Mend          string
	Mismatch      []string
	Effective     []fact
	Volume        []fact
	Args          string
	Config        string // of a guest that QEMU's arguments did not make
}

// fact is a line of a description list.
type fact struct{ Name, Value string }

// bootView is one start of the guest.
type bootView struct{ Title, Reason, Args string }

// method is how the figures came about, for a doubtful reader.
var method = []string{
	"Every stack and the bare host were measured in the same rounds, in random order and then in the mirrored order, so that drift of the machine cancels.",
	"Each share is a ratio to the host of the same round; its interval is 95" + thin + "%, robust to outliers, and all comparisons of this page are corrected together.",
	"Volumes were filled with data before anything was read, caches were emptied before every window, and what the device really did was counted to catch figures that come from RAM.",
	"The host was measured twice under two names: what lies between the two is noise, and \u201c~\u201d stands wherever this run cannot tell.",
}

func stacksOf(x index) []stackView {
	out := make([]stackView, 0, len(x.Run.Stacks))
	for _, s := range x.Run.Stacks {
		if s.Name == spec.Host || s.Name == spec.Control {
			continue
		}
		v := stackView{
			Name: s.Name, Title: x.title(s.Name), Durability: durabilityOf(s.Durability), DurabilityWhy: s.DurabilityWhy,
			Unavailable: s.Unavailable, Mend: s.Mend, Mismatch: s.Mismatch, Args: argv(s.QEMUArgs), Volume: volumeOf(s.Volume), Config: s.Config,
			Best: x.Best != nil && x.Best.Stack == s.Name,
		}
		for _, k := range slices.Sorted(maps.Keys(s.Effective)) {
			v.Effective = append(v.Effective, fact{k, s.Effective[k]})
		}
		out = append(out, v)
	}
	return out
}

// volumeOf is what the storage told of a volume.
func volumeOf(v *record.Volume) []fact {
	if v == nil {
		return nil
	}
	all := []fact{{"Volume", v.Path}, {"On", strings.Join(v.Devices, ", ")}}
	if v.RealSize > 0 {
		all = append(all, fact{"Takes", unit.Bytes(v.RealSize)})
	}
	if v.CompressRatio != nil {
		all = append(all, fact{"Compression", fixed(*v.CompressRatio, 2)})
	}
	for _, k := range slices.Sorted(maps.Keys(v.Properties)) {
		all = append(all, fact{k, v.Properties[k]})
	}
	return slices.DeleteFunc(all, func(f fact) bool { return f.Value == "" })
}

func bootsOf(h record.Host) []bootView {
	var out []bootView
	for _, b := range h.BootSeconds {
		v := bootView{Title: "Boot " + strconv.Itoa(b.Index+1), Reason: b.Reason, Args: argv(b.Args)}
		if b.ReadyNS > 0 {
			v.Title += ", ready after " + unit.Duration(time.Duration(b.ReadyNS))
		}
		out = append(out, v)
	}
	return out
}

func factsOf(x index) []fact {
	h := x.Run.Host
	all := []fact{
		{"Accelerator", accelerator(h.Accelerator)},
		{"CPU", h.CPU + ", " + unit.Count(h.CPUs, "CPU")},
		{"Memory", unit.Bytes(h.Memory)},
		{"Runs inside", h.Virtualised},
		{"Host kernel", h.Kernel},
		{"QEMU", h.QEMU},
		{"fio", h.Fio},
		{"Guest", guestOf(h)},
		{"Device", device(h.Device)},
		{"Scratch", scratch(h)},
		{"Other machines running", strings.Join(h.Neighbours, ", ")},
		{"Politeness", h.Polite},
		{"Window", unit.Duration(x.Experiment.Runtime) + " timed after " + unit.Duration(x.Experiment.Ramp) + " of ramp"},
	}
	return slices.DeleteFunc(all, func(f fact) bool { return f.Value == "" })
}

func guestOf(h record.Host) string {
	if h.GuestCPUs == 0 {
		return "none: all stacks are on the host"
	}
	return unit.Count(h.GuestCPUs, "vCPU") + ", " + unit.Bytes(h.GuestMemory) + ", Linux " + h.GuestKernel
}

func accelerator(a string) string {
	switch a {
	case "kvm":
		return "KVM"
	case "tcg":
		return "software emulation (TCG)"
	}
	return a
}

func device(d record.Device) string {
	if d.Name == "" {
		return d.Reason
	}
	kind := "solid state"
	if d.Rotational {
		kind = "rotational"
	}
	parts := unique([]string{strings.TrimSpace("/dev/" + d.Name + " " + d.Model), kind, d.WriteCache, d.Scheduler})
	return strings.Join(parts, ", ")
}

func scratch(h record.Host) string {
	s := h.ScratchPath
	if h.Filesystem != "" {
		s += " (" + h.Filesystem + ")"
	}
	return s + ", " + unit.Bytes(h.VolumeSize) + " each"
}

// reproduce is the command that runs the same plan again.
func reproduce(r record.Run) string {
	how := "--preset "
	if ext := path.Ext(r.Preset); strings.Contains(r.Preset, "/") || ext == ".yaml" || ext == ".yml" {
		how = "-f "
	}
	return "iotax run " + how + quote(r.Preset) + " --seed " + strconv.FormatUint(r.Seed, 10)
}

// argv prints arguments for a shell, an option and its value to a line.
func argv(args []string) string {
	line := " \\\n  "
	if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		line = " \\\n" // options alone, without a program that they belong to
	}
	var b strings.Builder
	for i, a := range args {
		switch {
		case i == 0:
		case strings.HasPrefix(a, "-"):
			b.WriteString(line)
		default:
			b.WriteString(" ")
		}
		b.WriteString(quote(a))
	}
	return b.String()
}

// quote makes a word safe for a POSIX shell.
func quote(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=.,/:+@%"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
