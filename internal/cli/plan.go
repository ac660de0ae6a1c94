package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/experiment"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/report/text"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/unit"
)

// plan says what a run with these options would do. It looks at nothing but the experiment and, in the store, at how
// much the shares of an earlier run scattered, and needs no tools.
func (a *app) plan(o runOptions) (err error) {
	q := experiment.Options{Seed: a.seed(o)}
	if o.Resume != "" {
		err = a.resumed(&q, o)
	} else {
		q.Experiment, err = a.experiment(o)
	}
	if err != nil {
		return err
	}
	p, err := plan.Make(q.Experiment, q.Seed)
	if err != nil {
		return err
	}
	d := p.Describe()
	if q.Resume != nil {
		d.Warnings = append(d.Warnings, fmt.Sprintf("run %s keeps the %d windows that are stored: it has so many fewer to measure", q.Resume.ID, len(q.Done)))
	}
	promise := p.Promise(a.noise())
	d.Warnings = append(d.Warnings, doubts(p, promise)...)
	return writePlan(a.Stdout, p.Experiment, d, promise, o.Seed != nil || q.Resume != nil, a.Width(a.Stdout))
}

// writePlan prints a plan in lines of at most width columns. A seed that was drawn for it alone is not shown: the run
// would have another.
func writePlan(out io.Writer, e spec.Experiment, d plan.Description, promise plan.Promise, seeded bool, width int) error {
	var b strings.Builder
	for _, line := range text.Fill(d.Preset+": "+d.Title, width) {
		fmt.Fprintln(&b, line)
	}
	err := table(&b, func(w io.Writer) {
		planFigures(w, d)
		planPromise(w, e, promise)
		if seeded {
			fmt.Fprintf(w, "seed\t%d\tdecides order and offsets\n", d.Seed)
		}
	})
	if err != nil {
		return err
	}
	b.WriteString("\nGUEST  MACHINE  CPUS  MEMORY   STACKS\n")
	for i, g := range d.Groups {
		memory := unit.Bytes(g.Guest.Memory)
		if g.Machine == plan.NoMachine {
			memory = "-"
		}
		cells := []string{fmt.Sprintf("%-5d", i+1), fmt.Sprintf("%-7s", g.Machine), fmt.Sprintf("%-4d", g.Guest.CPUs), fmt.Sprintf("%-7s", memory)}
		columns(&b, cells, strings.Join(g.Stacks, ", ")+guestSettings(g.Guest), width)
	}
	b.WriteByte('\n')
	err = table(&b, func(w io.Writer) { planBoots(w, d) })
	for _, line := range d.Warnings {
		b.WriteByte('\n')
		columns(&b, []string{"note:"}, line, width)
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, b.String())
	return err
}

func planFigures(w io.Writer, d plan.Description) {
	fmt.Fprintf(w, "\ncells\t%d\t%s, the host and its control, x %s\n", d.Cells, count(d.Stacks, "stack"), count(d.Workloads, "workload"))
	fmt.Fprintf(w, "window\t%s\twith fio's start and the counting around it\n", unit.Duration(d.Window))
	fmt.Fprintf(w, "rounds\t%.1f\tcounted, expected; a round visits every cell once\n", d.Rounds)
	fmt.Fprintf(w, "windows\t%d\tthe short first round of each boot included\n", d.Windows)
	fmt.Fprintf(w, "space\t%s\t%s of %s\n", unit.Bytes(d.Disk), count(d.Volumes, "volume"), unit.Bytes(d.VolumeSize))
	whose := "of the guest, which"
	if slices.ContainsFunc(d.Groups, func(g plan.GroupDescription) bool { return g.Guest != d.Groups[0].Guest }) {
		whose = "of the largest guest; the one with the most"
	}
	if d.GuestMemory > 0 {
		fmt.Fprintf(w, "memory\t%s\t%s has %s\n", unit.Bytes(d.GuestMemory), whose, count(d.GuestCPUs, "CPU"))
	}
	fmt.Fprintf(w, "time\t%s\tfilling %s, measuring %s\n", unit.Duration(d.Total), unit.Duration(d.FillTime), unit.Duration(d.Measure))
	fmt.Fprintf(w, "budget\t%s\tfor measuring\n", unit.Duration(d.Budget))
}

// guestSettings names what of a guest is not as usual: " (2 MiB pages, memfd, not pinned)".
func guestSettings(g spec.Guest) string {
	var words []string
	if g.Hugepages != 0 {
		words = append(words, unit.ExactBytes(g.Hugepages)+" pages")
	}
	if g.MemoryBackend != "" && g.MemoryBackend != "ram" {
		words = append(words, "memory in a "+g.MemoryBackend)
	}
	if g.Pinning == "off" {
		words = append(words, "not pinned")
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

func planBoots(w io.Writer, d plan.Description) {
	fmt.Fprintln(w, "BOOT\tGUEST\tROUNDS\tTIME")
	for _, b := range d.Boots {
		fmt.Fprintf(w, "%d\t%d\t%.1f\t%s\n", b.Index+1, b.Group+1, b.Rounds, unit.Duration(b.Budget))
	}
}

// count is a number of things: "1 stack", "2 stacks".
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// columns writes cells that stand first, as wide as they are, and beside them a text as wide as there is room.
func columns(b *strings.Builder, first []string, last string, width int) {
	lead := strings.Join(first, "  ") + "  "
	for _, line := range text.Fill(last, width-len(lead)) {
		fmt.Fprintf(b, "%s%s\n", lead, line)
		lead = strings.Repeat(" ", len(lead))
	}
}
