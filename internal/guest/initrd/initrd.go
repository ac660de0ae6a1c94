// Package initrd writes the guest's root file system: the agent as /init, programs with the
// libraries they load, and kernel modules, as an uncompressed cpio archive. Uncompressed boots faster: under
// emulation unpacking costs more than copying.
package initrd

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/u-root/u-root/pkg/cpio"
	"github.com/u-root/u-root/pkg/ldd"

	"github.com/iotax/iotax/internal/agent"
	"github.com/iotax/iotax/internal/guest/kernel"
)

// Program is an executable of the host that the guest gets too, with its libraries.
type Program struct {
	Source string // on the host
	Target string // inside the guest
}

// Content is all that goes into the archive.
type Content struct {
	Agent    []byte
	Programs []Program
	Modules  []kernel.Module // every one after those that it needs
	Channel  []string        // modules that the agent loads by itself to reach the host; they and their needs lead Modules
}

// ModulePath is where a module lies inside the guest.
func ModulePath(name string) string { return "/modules/" + name + ".ko" }

// Write writes the archive. The same content gives the same bytes.
func Write(w io.Writer, c Content) error {
	records := []cpio.Record{
		cpio.CharDev("dev/console", 0o600, 5, 1), // the kernel opens it before anything is mounted
		cpio.StaticFile("init", string(c.Agent), 0o755),
		cpio.StaticFile(strings.TrimPrefix(agent.ChannelModules, "/"), channelList(c), 0o644),
	}
	for _, m := range c.Modules {
		records = append(records, cpio.StaticFile(strings.TrimPrefix(ModulePath(m.Name), "/"), string(m.Data), 0o644))
	}
	for _, p := range c.Programs {
		r, err := program(p)
		if err != nil {
			return err
		}
		records = append(records, r...)
	}
	archive := cpio.NewDedupWriter(cpio.Newc.Writer(w))
	seen := map[string]bool{}
	for _, r := range records {
		for _, dir := range parents(r.Name) {
			if seen[dir] {
				continue
			}
			seen[dir] = true
			if err := archive.WriteRecord(cpio.MakeReproducible(cpio.Directory(dir, 0o755))); err != nil {
				return err
			}
		}
		if seen[r.Name] {
			continue
		}
		seen[r.Name] = true
		if err := archive.WriteRecord(cpio.MakeReproducible(r)); err != nil {
			return err
		}
	}
	return cpio.WriteTrailer(archive)
}

// channelList is the load order of the channel's modules: they and what they need come first in the archive,
// so it is every module up to the last of them.
func channelList(c Content) string {
	last := -1
	for i, m := range c.Modules {
		for _, name := range c.Channel {
			if m.Name == name {
				last = i
			}
		}
	}
	var list strings.Builder
	for _, m := range c.Modules[:last+1] {
		fmt.Fprintln(&list, ModulePath(m.Name))
	}
	return list.String()
}

// program returns the records of an executable, its loader and its libraries, links resolved to files.
func program(p Program) ([]cpio.Record, error) {
	data, err := os.ReadFile(p.Source)
	if err != nil {
		return nil, err
	}
	records := []cpio.Record{cpio.StaticFile(strings.TrimPrefix(p.Target, "/"), string(data), 0o755)}
	libraries, err := ldd.List(p.Source)
	if err != nil {
		return nil, fmt.Errorf("libraries of %s: %w", p.Source, err)
	}
	for _, lib := range libraries {
		if lib == p.Source {
			continue
		}
		data, err := os.ReadFile(lib)
		if err != nil {
			return nil, err
		}
		records = append(records, cpio.StaticFile(strings.TrimPrefix(lib, "/"), string(data), 0o755))
	}
	return records, nil
}

func parents(name string) []string {
	var dirs []string
	for dir := filepath.Dir(name); dir != "." && dir != "/"; dir = filepath.Dir(dir) {
		dirs = append([]string{dir}, dirs...)
	}
	return dirs
}
