package rig

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/wire"
	"github.com/iotax/iotax/internal/xen"
	"github.com/iotax/iotax/internal/xen/xlcfg"
)

// domain is a guest of Xen.
type domain struct {
	*xen.Domain
	guest spec.Guest            // as intended
	given map[string]xlcfg.Disk // stack -> its disk as xl was told of it
}

// startDomain starts a domain of Xen. What xl does not start is unavailable, and the run goes on.
func (s *session) startDomain(ctx context.Context) error {
	if s.Xen == nil {
		s.leaveOutAll(errkind.WithHint(errkind.Userf("this host does not run under Xen"), "boot it into Xen"))
		return nil
	}
	d := &domain{guest: s.group.Guest, given: map[string]xlcfg.Disk{}}
	var disks []xlcfg.Disk
	for _, in := range s.intended {
		if in.disk.Offset != 0 {
			s.leaveOut(in.stack, errkind.Userf("Xen gives a guest whole devices and files, and this volume is a part of %s", in.disk.Path))
			continue
		}
		disk := xenDisk(len(disks), in)
		disks = append(disks, disk)
		d.given[in.stack.Name] = disk
	}
	if len(disks) == 0 {
		return nil
	}
	var err error
	d.Domain, err = xen.Start(ctx, xen.Config{
		Host: *s.Xen, Type: strings.TrimPrefix(s.group.Guest.Hypervisor, "xen-"), CPUs: s.group.Guest.CPUs, Memory: s.group.Guest.Memory,
		Image: s.Image, Disks: disks, Pin: s.group.Guest.Pinning != "off", Dir: s.Dir, Name: "guest", Journal: s.Journal, Runner: s.Runner,
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		s.leaveOutAll(err)
		return nil
	}
	s.machine = d
	return nil
}

// xenDisk is the i-th disk of a domain.
func xenDisk(i int, in intended) xlcfg.Disk {
	name := "xvd"
	if in.stack.Bus == "ide" {
		name = "hd"
	}
	return xlcfg.Disk{VDev: name + string(rune('a'+i)), Path: in.disk.Path, Format: in.stack.Format, Backend: in.stack.Backend}
}

func (d *domain) agent() *guest.Client { return d.Agent }

func (d *domain) facts() (time.Duration, []string) { return d.Ready, d.Args }

// name implements machine.
func (d *domain) name(_ context.Context, in intended) (string, error) {
	return d.given[in.stack.Name].Serial(), nil
}

// hardware says how many vCPUs the domain has, and where those of dom0 run, which do its I/O.
func (d *domain) hardware(ctx context.Context) (findings, error) {
	dom0, err := d.Dom0(ctx)
	f := findings{effective: map[string]string{"vCPUs": strconv.Itoa(d.Hello.CPUs), "dom0": dom0}}
	if d.Hello.CPUs != d.guest.CPUs {
		f.mismatch = append(f.mismatch, fmt.Sprintf("%d vCPUs were asked for, but the guest sees %d", d.guest.CPUs, d.Hello.CPUs))
	}
	return f, err
}

// look implements machine.
func (d *domain) look(ctx context.Context, in intended, _ wire.Disk) (findings, error) {
	all, err := d.Disks(ctx)
	if err != nil {
		return findings{}, err
	}
	given := d.given[in.stack.Name]
	is, ok := all[given.VDev]
	if !ok {
		return findings{}, fmt.Errorf("no disk %s is served by Xen", given.VDev)
	}
	return findings{effective: is.Effective(), mismatch: is.Mismatch(given), config: d.Text}, nil
}

// doubts implements machine: Xen's back ends do not fall back.
func (d *domain) doubts(context.Context, intended) ([]string, error) { return nil, nil }
