package pve_test

import (
	"os"
	"testing"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/vmconf/pve"
)

// FuzzParseStorage finds a storage.cfg that breaks the reader, or a pool whose place is not in it.
func FuzzParseStorage(f *testing.F) {
	data, err := os.ReadFile("testdata/storage.cfg")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	f.Add("dir: a\r\n\tpath /x\r\ndir: a\n#\nb: c\n d")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := pve.ParseStorage("storage.cfg", []byte(text))
		if err != nil {
			if errkind.CodeOf(err) != errkind.Usage {
				t.Fatalf("not a fault of the user: %v", err)
			}
			return
		}
		for name, p := range s.Pools {
			if p.Name != name || p.Type == "" || p.At.Line < 1 {
				t.Errorf("%s is %+v", name, p)
			}
		}
	})
}
