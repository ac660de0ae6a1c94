package lab

import (
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/golden"
)

func TestArguments(t *testing.T) {
	for name, c := range map[string]Config{
		"plain": {Memory: 2 << 30, CPUs: 2},
		"xen": {
			Xen: true, Memory: 2500 << 20, CPUs: 2, Disks: []int64{1 << 30, 2 << 30},
			Shares: []Share{{"/home/me/source", "/share/source", true}, {"/tmp/a,b", "/share/work", false}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			golden.Equal(t, "testdata/"+name+".args", strings.Join(arguments("/lab", "/run", c), "\n")+"\n")
		})
	}
}
