package audit

import (
	"cmp"
	"fmt"

	"github.com/iotax/iotax/internal/sys"
	"github.com/iotax/iotax/internal/vmconf"
)

// about begins a finding of a setting of a configuration.
func about(setting string, s vmconf.Setting, why string, args ...any) Finding {
	f := Finding{Setting: setting, At: s.At, Effective: s.Value, Why: fmt.Sprintf(why, args...)}
	if !s.Set {
		f.Default = cmp.Or(s.Why, "the default")
	}
	return f
}

// below begins a finding of what lies under a disk.
func (d disk) below(setting, effective, why string, args ...any) Finding {
	return Finding{
		Setting: setting, At: d.Source.At, Effective: effective, Volume: d.volume.Path, Why: fmt.Sprintf(why, args...),
	}
}

// change adds changes that are made together.
func (f Finding) change(changes ...Change) Finding {
	f.Changes = append(f.Changes, changes...)
	return f
}

// run adds a command as a shell reads it.
func (f Finding) run(argv ...string) Finding { return f.shell(sys.Quote(argv)) }

// shell adds a line for a shell as it is.
func (f Finding) shell(line string) Finding {
	f.Commands = append(f.Commands, line)
	return f
}

// needs adds what must be there first.
func (f Finding) needs(what ...string) Finding {
	f.Needs = append(f.Needs, what...)
	return f
}

func (d disk) set(setting, value string) Change {
	return Change{Disk: d.ID, Setting: setting, Value: value}
}

func one(f Finding) []Finding { return []Finding{f} }
