package text

import (
	"fmt"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/unit"
)

// alarms come before all else: what makes the whole result less than it looks.
func (p *printer) alarms(r analyse.Result) {
	if r.Run.Status != record.Complete {
		reason := r.Run.Reason
		if reason == "" && r.Run.Status == record.Running {
			reason = "the run has not ended: it is still going, or it was killed"
		}
		if reason != "" {
			reason = ": " + reason
		}
		p.hang("", "PARTIAL RESULT"+reason+". What follows is what was measured until then.", loud)
	}
	if r.Noise.Alarm {
		p.hang("", "CONDITIONS CHANGED under the run: the host, measured twice in each round, differs from itself. Every share below is in doubt.", loud)
	}
}

// facts say what was measured on.
func (p *printer) facts(r analyse.Result) {
	p.hang("", identity(r), plain)
	p.scale(r.Experiment)
	h := r.Run.Host
	p.hang("host   ", hostFacts(h), plain)
	p.hang("guest  ", guestFacts(h), plain)
	if h.Accelerator == "tcg" {
		reason := h.AcceleratorReason
		if reason != "" {
			reason = ": " + reason
		}
		p.hang("       ", "SOFTWARE EMULATION"+reason+".", loud)
		p.hang("       ", "Shares of the host below are far from what KVM gives; the order of the stacks usually is not.", plain)
	}
	if len(h.Neighbours) > 0 {
		p.hang("beside ", "other virtual machines were running: "+strings.Join(h.Neighbours, ", "), loud)
	}
	if h.Polite != "" {
		p.hang("polite ", h.Polite, plain)
	}
}

// scale says at once that figures are not those of the published experiment's terms.
func (p *printer) scale(e spec.Experiment) {
	words := strings.TrimSuffix(strings.ToUpper(e.Scale)+": "+e.Note, ": ")
	if e.Scale == "" && e.Note == "" {
		return
	}
	p.hang("scale  ", strings.TrimPrefix(words, ": "), loud)
}

func identity(r analyse.Result) string {
	run := r.Run
	f := facts{strings.TrimSpace("iotax " + run.Version)}
	f.add(run.ID != "", "run %s", run.ID)
	f.add(true, "seed %d", run.Seed)
	f.add(!run.Started.IsZero(), "%s", run.Started.UTC().Format("2006-01-02 15:04 MST"))
	took := run.Ended.Sub(run.Started).Round(time.Second)
	f.add(!run.Ended.IsZero() && took > 0, "%s", unit.Duration(took))
	out := f.String()
	if run.Preset != "" {
		out += "; " + run.Preset
		if r.Experiment.Title != "" && r.Experiment.Title != run.Preset {
			out += ": " + r.Experiment.Title
		}
	}
	return out
}

func hostFacts(h record.Host) string {
	f := facts{}
	f.add(h.CPU != "", "%d x %s", h.CPUs, h.CPU)
	f.add(h.CPU == "" && h.CPUs > 0, "%d CPUs", h.CPUs)
	f.add(h.Memory > 0, "%s", unit.Bytes(h.Memory))
	f.add(h.Kernel != "", "Linux %s", h.Kernel)
	f.add(h.Virtualised != "", "itself a guest of %s", h.Virtualised)
	f.add(h.VolumeSize > 0, "volumes of %s", unit.Bytes(h.VolumeSize))
	f.add(h.ScratchPath != "", "scratch in %s", h.ScratchPath)
	on := device(h.Device)
	if h.Filesystem != "" {
		on = h.Filesystem + " on " + on
	}
	f.add(true, "%s", on)
	return f.String()
}

func device(d record.Device) string {
	if d.Name == "" {
		return strings.TrimSuffix("a device that is not known: "+d.Reason, ": ")
	}
	f := facts{}
	f.add(d.Model != "", "%s", d.Model)
	f.add(d.Rotational, "rotational")
	f.add(d.WriteCache != "", "%s cache", d.WriteCache)
	f.add(d.Scheduler != "", "scheduler %s", d.Scheduler)
	if len(f) == 0 {
		return "/dev/" + d.Name
	}
	return fmt.Sprintf("/dev/%s (%s)", d.Name, f)
}

func guestFacts(h record.Host) string {
	f := facts{}
	f.add(h.QEMU != "" && h.Accelerator != "xen", "QEMU %s", h.QEMU)
	f.add(h.GuestKernel != "", "Linux %s", h.GuestKernel)
	f.add(h.GuestCPUs > 0, "%d vCPUs", h.GuestCPUs)
	f.add(h.GuestMemory > 0, "%s", unit.Bytes(h.GuestMemory))
	f.add(h.Fio != "", "fio %s", strings.TrimPrefix(h.Fio, "fio-"))
	f.add(h.Accelerator == "kvm", "KVM")
	f.add(h.Accelerator == "xen", "Xen")
	return f.String()
}

// facts are the parts of a line that are known.
type facts []string

func (f *facts) add(known bool, format string, args ...any) {
	if known {
		*f = append(*f, fmt.Sprintf(format, args...))
	}
}

func (f facts) String() string { return strings.Join(f, ", ") }
