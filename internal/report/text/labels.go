package text

import (
	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/spec"
)

// maxTitle is the widest title that may stand in the table in place of a name.
const maxTitle = 30

// labels are what stacks and workloads are called in print: the title where it is short and no other
// has it, else the name.
type labels struct{ stacks, workloads map[string]string }

func newLabels(r analyse.Result) labels {
	l := labels{stacks: map[string]string{}, workloads: map[string]string{}}
	for _, s := range r.Experiment.Stacks {
		l.stacks[s.Name] = s.Title
	}
	for _, w := range r.Experiment.Workloads {
		l.workloads[w.Name] = w.Title
	}
	shorten(l.stacks)
	shorten(l.workloads)
	l.stacks[spec.Host], l.stacks[spec.Control] = "host", "host again (control)"
	return l
}

// shorten replaces titles that cannot stand for their names.
func shorten(titles map[string]string) {
	uses := map[string]int{}
	for name, title := range titles {
		titles[name] = clean(title)
		uses[titles[name]]++
	}
	for name, title := range titles {
		if title == "" || uses[title] > 1 || width(title) > maxTitle {
			titles[name] = clean(name)
		}
	}
}

func (l labels) stack(name string) string {
	if s, ok := l.stacks[name]; ok {
		return s
	}
	return clean(name)
}

func (l labels) workload(name string) string {
	if s, ok := l.workloads[name]; ok {
		return s
	}
	return clean(name)
}

// whose words the owner of a usual default.
func whose(role string) string {
	switch role {
	case "virt-manager":
		return "virt-manager's default"
	case "proxmox":
		return "Proxmox's default"
	}
	return clean(role) + "'s default"
}
