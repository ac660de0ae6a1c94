package spec

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/errkind"
)

//go:embed presets/*.yaml
var presetFiles embed.FS

// Info is what a list of presets shows.
type Info struct {
	Name      string
	Title     string
	Stacks    int
	Workloads int
	Budget    time.Duration
}

// Presets lists the embedded experiments by name.
func Presets() []Info {
	var all []Info
	for _, name := range presetNames() {
		e, err := Preset(name)
		if err != nil {
			panic(fmt.Sprintf("the embedded preset %s: %v", name, err)) // held by a test
		}
		all = append(all, Info{Name: name, Title: e.Title, Stacks: len(e.Stacks), Workloads: len(e.Workloads), Budget: e.Budget})
	}
	return all
}

// Preset returns an embedded experiment. The error is a Usage fault that names the nearest preset.
func Preset(name string) (Experiment, error) {
	data, err := PresetYAML(name)
	if err != nil {
		return Experiment{}, err
	}
	return parse(name+".yaml", data, "")
}

// PresetYAML returns an embedded experiment as it was written. Parse reads it back, under the name of the file that
// it was copied to. The error is that of Preset.
func PresetYAML(name string) ([]byte, error) {
	if !isPreset(name) {
		return nil, errkind.Userf("%s", unknown("preset", name, presetNames()))
	}
	return presetFiles.ReadFile("presets/" + name + ".yaml")
}

func presetNames() []string {
	files, err := presetFiles.ReadDir("presets")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".yaml"))
	}
	return names
}

func isPreset(name string) bool { return slices.Contains(presetNames(), name) }
