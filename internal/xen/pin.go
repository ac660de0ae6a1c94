package xen

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/qemu/proc"
)

// Pin says on which physical CPUs the domain's vCPUs run, and checks that they do. They were put there when the domain
// was made, so that they never ran elsewhere. dom0 stays where it is: its vCPUs serve every other domain too.
func (d *Domain) Pin(ctx context.Context) (proc.Policy, error) {
	if !d.c.Pin {
		return proc.Policy{}, nil
	}
	out, err := d.run(ctx, "xl", "vcpu-list", d.id)
	if err != nil {
		return proc.Policy{}, err
	}
	is := affinities(out)
	for i, cpu := range d.policy.VCPUs {
		if got := is[i]; got != strconv.Itoa(cpu) && !(got == "all" && d.c.Host.CPUs == 1) {
			return proc.Policy{}, fmt.Errorf("vCPU %d was to run on physical CPU %d, but Xen has it on %q", i, cpu, got)
		}
	}
	return d.policy, nil
}

// Dom0 says where dom0's vCPUs may run, which do the I/O of every domain: "1 vCPU on all" where nothing is pinned.
func (d *Domain) Dom0(ctx context.Context) (string, error) {
	out, err := d.run(ctx, "xl", "vcpu-list", "0")
	if err != nil {
		return "", err
	}
	is := affinities(out)
	var places []string
	for i := range len(is) {
		if len(places) == 0 || places[len(places)-1] != is[i] {
			places = append(places, is[i])
		}
	}
	return fmt.Sprintf("%d vCPUs, on physical CPUs: %s", len(is), strings.Join(places, ", ")), nil
}

// affinities reads the hard affinity of each vCPU from what `xl vcpu-list` prints of one domain: name, number, vCPU,
// CPU, state, seconds, hard / soft affinity.
func affinities(text string) map[int]string {
	is := map[int]string{}
	for line := range strings.Lines(text) {
		left, _, ok := strings.Cut(line, " / ")
		fields := strings.Fields(left)
		if !ok || len(fields) < 7 {
			continue
		}
		if n, err := strconv.Atoi(fields[2]); err == nil {
			is[n] = fields[6]
		}
	}
	return is
}
