package revert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/sys"
)

// xlPatience bounds one command of Xen's toolstack: it waits ten seconds for a device whose back end does not answer.
const xlPatience = 90 * time.Second

// DomainName is the name of a run's domain: iotax-<run>-<name>.
func DomainName(run, name string) string { return ScratchName(run) + "-" + name }

// Domain undoes the start of a Xen domain: the one of this UUID is destroyed, loop devices that Xen's scripts bound to
// its files, and whose unbinding was cut short, are freed, and its logs are removed. The UUID finds a domain that a killed xl left without a
// name, and leaves another of the same name alone. name must be a DomainName of the run; paths are those of the
// domain's disks.
func Domain(name, uuid string, paths ...string) Act {
	return Act{"xl-domain", map[string]string{"name": name, "uuid": uuid, "files": strings.Join(paths, "\n")}}
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

func validDomain(run string, args map[string]string) error {
	if !strings.HasPrefix(args["name"], DomainName(run, "")) || strings.ContainsAny(args["name"], "/*?[") {
		return fmt.Errorf("revert: refused to destroy domain %q: not of run %s", args["name"], run)
	}
	if !uuidForm.MatchString(args["uuid"]) {
		return fmt.Errorf("revert: refused to destroy domain %q: %q is no UUID", args["name"], args["uuid"])
	}
	return nil
}

func undoDomain(ctx context.Context, _ string, args map[string]string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), xlPatience)
	defer cancel()
	list, err := xl(ctx, "list", "-v")
	if err != nil {
		return err
	}
	var failures []error
	if id := domainID(list, args["uuid"]); id != "" {
		if _, err := xl(ctx, "destroy", id); err != nil {
			// It may have ended by itself meanwhile.
			if list, again := xl(ctx, "list", "-v"); again != nil || domainID(list, args["uuid"]) != "" {
				failures = append(failures, err)
			}
		}
	}
	for _, file := range strings.Fields(args["files"]) { // xlcfg lets no blank into a path
		failures = append(failures, freeLoops(file))
	}
	failures = append(failures, removeLogs(args["name"]))
	return errors.Join(failures...)
}

func xl(ctx context.Context, args ...string) (string, error) {
	out, err := sys.Exec{}.Run(ctx, sys.Command{Argv: append([]string{"xl"}, args...)})
	return string(out), err
}

// domainLine is a line of `xl list -v`: name, number, MiB, vCPUs, state, seconds, UUID and more. A domain without a
// name has "(null)" there.
var domainLine = regexp.MustCompile(`(?m)^.*?\s(\d+)\s+\d+\s+\d+\s+([-a-z]{6})\s+[\d.]+\s+([0-9a-f-]{36})\b`)

// domainID finds the number of the domain with this UUID, "" when there is none. One that is dying already has no
// more to be done to it: it goes when the last of its pages is given back.
func domainID(list, uuid string) string {
	for _, m := range domainLine.FindAllStringSubmatch(list, -1) {
		if m[3] == uuid && !strings.HasSuffix(m[2], "d") {
			return m[1]
		}
	}
	return ""
}

// DomainLog is where libxl puts what the QEMU beside a domain says. It never removes that.
func DomainLog(name string) string { return "/var/log/xen/qemu-dm-" + name + ".log" }

func removeLogs(name string) error {
	logs, err := filepath.Glob(DomainLog(name) + "*") // with those before it, which are numbered
	if err != nil {
		return err
	}
	var failures []error
	for _, log := range logs {
		if err := os.Remove(log); !errors.Is(err, fs.ErrNotExist) {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// freeLoops unbinds every loop device that backs this file.
func freeLoops(file string) error {
	backing, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		return err
	}
	var failures []error
	for _, path := range backing {
		text, err := os.ReadFile(path)
		if err != nil || strings.TrimSuffix(strings.TrimSpace(string(text)), " (deleted)") != file {
			continue
		}
		device := "/dev/" + strings.Split(path, "/")[3]
		failures = append(failures, undoLoop(context.Background(), "", Loop(device, file).Args))
	}
	return errors.Join(failures...)
}
