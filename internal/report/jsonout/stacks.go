package jsonout

import (
	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// stacks joins what was asked for with what was found, in the order of the result.
func stacks(r analyse.Result) []Stack {
	asked, found := map[string]spec.Stack{}, map[string]record.Stack{}
	for _, s := range r.Experiment.Stacks {
		asked[s.Name] = s
	}
	for _, s := range r.Run.Stacks {
		found[s.Name] = s
	}
	return list(r.StackOrder, func(name string) Stack {
		f := found[name]
		out := Stack{
			Name: name, Title: f.Title, Role: f.Role, Durability: f.Durability, DurabilityWhy: f.DurabilityWhy,
			Unavailable: f.Unavailable, Mend: f.Mend, Effective: map[string]string{},
			Mismatch: all(f.Mismatch), QEMUArgs: all(f.QEMUArgs), GuestConfig: f.Config,
		}
		for k, v := range f.Effective {
			out.Effective[k] = v
		}
		if f.Volume != nil {
			out.Volume = volume(*f.Volume)
		}
		if out.Durability == "" {
			out.Durability = record.Unknown
		}
		if a, ok := asked[name]; ok {
			out.Title, out.Role, out.Ceiling, out.Config = a.Title, a.Role, a.Ceiling(), config(a)
		}
		return out
	})
}

func volume(v record.Volume) *Volume {
	out := &Volume{Path: v.Path, Devices: all(v.Devices), RealSize: v.RealSize, Properties: map[string]string{}}
	if v.CompressRatio != nil {
		out.CompressRatio = number(*v.CompressRatio)
	}
	if v.Unwritten != nil {
		out.Unwritten = number(*v.Unwritten)
	}
	for k, p := range v.Properties {
		out.Properties[k] = p
	}
	return out
}
