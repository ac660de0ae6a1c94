package iometer

import (
	"math"
	"regexp"
	"testing"
)

// FuzzParse feeds anything to Parse: it must not panic, what it refuses it must say, and what it accepts must be a
// distribution, and become a load that is one.
func FuzzParse(f *testing.F) {
	f.Add([]byte("'ACCESS SPECIFICATIONS ===\n'Access specification name,default assignment\n\tA,NONE\n" +
		"'size,% of size,% reads,% random,delay,burst,align,reply\n\t512,33,10,5,0,1,0,0\n\t4096,67,99,0,9,2,512,1\n" +
		"'END access specifications\n'Worker\n\tW\n'Number of outstanding IOs\n\t8\n'Assigned access specs\n\ta\n'End worker\n"))
	name := regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
	f.Fuzz(func(t *testing.T, data []byte) {
		specs, err := Parse("f.icf", data)
		if err != nil {
			if err.Error() == "" || len(specs) > 0 {
				t.Fatalf("%d specifications and the error %q", len(specs), err)
			}
			return
		}
		if len(specs) == 0 {
			t.Fatal("neither a specification nor an error")
		}
		for i, slug := range Slugs(specs) {
			if !name.MatchString(slug) {
				t.Errorf("%q is called %q", specs[i].Name, slug)
			}
			l, err := specs[i].Load()
			if err != nil {
				continue
			}
			if l.BS < 512 || l.Distance < 0 || l.Distance > 1 || math.IsNaN(l.Distance) || l.RW == "" {
				t.Errorf("%+v of %+v", l, specs[i])
			}
		}
	})
}
