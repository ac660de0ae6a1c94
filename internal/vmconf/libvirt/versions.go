package libvirt

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

var (
	upstream = regexp.MustCompile(`(?:^|-)(\d+)\.(\d+)(?:\D.*)?$`)
	redHat   = regexp.MustCompile(`-rhel(\d+)\.(\d+)`)
)

// Ubuntu names machines after its releases; each is the machine of the QEMU that the release had.
var ubuntu = map[string]vmconf.Version{
	"trusty": {Major: 2}, "xenial": {Major: 2, Minor: 5}, "artful": {Major: 2, Minor: 10}, "bionic": {Major: 2, Minor: 11},
	"cosmic": {Major: 2, Minor: 12}, "disco": {Major: 3, Minor: 1}, "eoan": {Major: 4}, "focal": {Major: 4, Minor: 2},
	"groovy": {Major: 5}, "hirsute": {Major: 5, Minor: 2}, "impish": {Major: 6}, "jammy": {Major: 6, Minor: 2},
	"kinetic": {Major: 7}, "lunar": {Major: 7, Minor: 2}, "mantic": {Major: 8}, "noble": {Major: 8, Minor: 2},
	"oracular": {Major: 9}, "plucky": {Major: 9, Minor: 2},
}

// Red Hat's machines, by the first release that has what the QEMU has: before 8.3 they keep the defaults of 4.2.
var rhel = []struct {
	major, minor int
	is           vmconf.Version
}{
	{10, 0, vmconf.Version{Major: 9, Minor: 1}},
	{9, 4, vmconf.Version{Major: 8, Minor: 2}},
	{9, 2, vmconf.Version{Major: 7, Minor: 2}},
	{8, 6, vmconf.Version{Major: 6, Minor: 2}},
	{8, 5, vmconf.Version{Major: 6}},
	{8, 4, vmconf.Version{Major: 5, Minor: 2}},
	{8, 3, vmconf.Version{Major: 5, Minor: 1}},
	{8, 0, vmconf.Version{Major: 4, Minor: 2}},
	{0, 0, vmconf.Version{Major: 2, Minor: 12}},
}

// machineVersion is the QEMU whose defaults a machine type keeps; unknown for one without a version, such as "q35", which
// is as new as the QEMU.
func machineVersion(machine string) vmconf.Version {
	if m := redHat.FindStringSubmatch(machine); m != nil {
		major, minor := number(m[1]), number(m[2])
		for _, r := range rhel {
			if major > r.major || major == r.major && minor >= r.minor {
				return r.is
			}
		}
	}
	if m := upstream.FindStringSubmatch(machine); m != nil {
		return vmconf.Version{Major: number(m[1]), Minor: number(m[2])}
	}
	for _, word := range strings.Split(machine, "-") {
		if v, ok := ubuntu[word]; ok {
			return v
		}
	}
	return vmconf.Version{}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}
