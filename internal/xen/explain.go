package xen

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/revert"
)

// listener hears what the domain's kernel says on the console beside the agent's words, and ends the connection
// when it panics: a domain that is dead would else be waited for until it counts as silent.
type listener struct {
	*proc.Console
	panic string
}

func newListener() *listener {
	l := &listener{}
	l.Console = proc.NewConsole(func(line string) {
		if strings.Contains(line, "Kernel panic") && l.panic == "" {
			l.panic = line
		}
	})
	return l
}

func (l *listener) Write(b []byte) (int, error) {
	n, err := l.Console.Write(b)
	if l.panic != "" {
		return n, fmt.Errorf("the guest said: %s", l.panic)
	}
	return n, err
}

// Lost returns why the domain can do nothing more, nil when it lives and err was about something else.
func (d *Domain) Lost(err error) error {
	select {
	case <-d.Agent.Gone():
		return d.Explain(err)
	default:
		return nil
	}
}

// askPatience bounds the asking of the toolstack about a domain in trouble.
const askPatience = 10 * time.Second

// Explain adds to an error what the guest's console and Xen say about the domain: a panic, its end, a fault.
func (d *Domain) Explain(err error) error {
	if err == nil || d.id == "" { // xl has said what there is to say
		return err
	}
	if line := d.console.Trouble(); line != "" {
		if strings.Contains(err.Error(), line) {
			return err
		}
		return fmt.Errorf("the guest said: %s (%w)", line, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), askPatience)
	defer cancel()
	var why []string
	if list, listErr := d.run(ctx, "xl", "list"); listErr == nil {
		if state := stateOf(list, d.cfg.Name); state != "" {
			why = append(why, "the domain "+state)
		}
	}
	if log, logErr := d.run(ctx, "xl", "dmesg"); logErr == nil {
		if line := lastAbout(log, d.id); line != "" {
			why = append(why, "Xen said: "+line)
		}
	}
	said := strings.Join(why, "; ")
	if said == "" || strings.Contains(err.Error(), said) {
		return err
	}
	return fmt.Errorf("%s (%w)", said, err)
}

// qemuSaid adds to an error the last words of the QEMU beside the domain, which xl does not tell.
func (d *Domain) qemuSaid(err error) error {
	log, _ := os.ReadFile(revert.DomainLog(d.cfg.Name)) // there is none where the domain needs no QEMU
	if line := lastLine(string(log)); line != "" {
		return fmt.Errorf("%w: %s", err, line)
	}
	return err
}

// stateOf says in words what `xl list` shows of a domain that does not run as it should, "" of one that does.
func stateOf(list, name string) string {
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		if len(fields) < 5 || fields[0] != name {
			continue
		}
		switch state := fields[4]; {
		case strings.Contains(state, "c"):
			return "crashed"
		case strings.Contains(state, "s"):
			return "shut itself down"
		case strings.Contains(state, "p"):
			return "is paused"
		}
		return ""
	}
	return "is gone: it was destroyed from outside"
}

// lastAbout is the last line of Xen's log that is about the domain of this number: "d3v0", "d3" or "domain 3" in it.
func lastAbout(log, id string) (last string) {
	about := regexp.MustCompile(`(?i)\b(d` + id + `(v\d+)?|dom(ain)? ?` + id + `)\b`)
	for line := range strings.Lines(log) {
		if about.MatchString(line) {
			last = strings.TrimSpace(strings.TrimPrefix(line, "(XEN) "))
		}
	}
	return last
}
