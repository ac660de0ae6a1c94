package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Set by the Makefile with -ldflags -X; a plain `go build` or `go install` asks the build information instead.
var (
	version  = "0.1.0-dev"
	revision = ""
)

// Version is the version of this program and the commit that it was built from, where known.
func Version() string {
	commit := revision
	if info, ok := debug.ReadBuildInfo(); ok && commit == "" {
		commit = commitOf(info)
	}
	if commit == "" {
		return version
	}
	return version + "+" + commit
}

// commitOf gives the commit of a build by its first twelve digits, with a mark when the tree was changed.
func commitOf(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit := settings["vcs.revision"]
	if len(commit) > 12 {
		commit = commit[:12]
	}
	if commit != "" && settings["vcs.modified"] == "true" {
		commit += "-dirty"
	}
	return commit
}

func (a *app) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "version prints the version of iotax, of the Go that built it, and the platform it runs on.",
		Example: "  iotax version",
		Args:    atMost(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(a.Stdout, "iotax %s\n%s %s/%s\n", Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
