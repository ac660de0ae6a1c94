package xen

import (
	"strings"
	"testing"
)

// FuzzToolstack gives every parser of this package what a program may have printed.
func FuzzToolstack(f *testing.F) {
	for _, text := range []string{info, list, dmesg, vcpus, frontEnd, backEnd} {
		f.Add(text, "3")
	}
	f.Add(`/a/3/1 = "x" = "y"`, "3")
	f.Fuzz(func(t *testing.T, text, id string) {
		if h := parseInfo(text); len(h.Types) > 3 {
			t.Errorf("%d types of domains", len(h.Types))
		}
		stateOf(text, id)
		for n, place := range affinities(text) {
			if place == "" || n < 0 && !strings.Contains(text, "-") {
				t.Errorf("vCPU %d on %q", n, place)
			}
		}
		all := parseTree(text, "/a")
		for _, child := range all.children() {
			for path := range all.sub(child) {
				if _, ok := all[child+"/"+path]; !ok {
					t.Errorf("%s/%s came from nowhere", child, path)
				}
			}
		}
		f := diskFacts(all.sub("3"), all)
		f.Effective()
		unserved(all)
	})
}
