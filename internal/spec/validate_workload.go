package spec

import (
	"github.com/iotax/iotax/internal/unit"
)

func checkWorkload(f *faults, path string, w Workload) {
	if w.BS < 512 || w.BS%512 != 0 {
		f.add(path+".bs", "%s is not allowed; expected a multiple of 512 bytes, such as 4k", unit.ExactBytes(w.BS))
	}
	if w.IODepth < 1 || w.IODepth > maxDepth {
		f.add(path+".iodepth", "%d is out of range; expected 1 to %d", w.IODepth, maxDepth)
	}
	if w.FDataSync < 0 {
		f.add(path+".fdatasync", "%d is negative; expected a number of writes between two fdatasyncs, or 0 for none", w.FDataSync)
	}
	if w.RW == "" {
		f.add(path+".rw", "is missing; expected one such as \"randread\"")
		return
	}
	if !choice(f, path+".rw", "rw", w.RW, Rws) {
		return
	}
	if w.FDataSync > 0 && !w.Writes() {
		f.add(path+".fdatasync", "rw %q%s writes nothing that could be synced; expected a load that writes", w.RW, ref(path+".rw"))
	}
	switch {
	case w.RWMixRead == 0:
	case !w.mixed():
		f.add(path+".rwmixread", "rw %q%s is not mixed; expected rw \"randrw\" or \"rw\"", w.RW, ref(path+".rw"))
	case w.RWMixRead < 1 || w.RWMixRead > 99:
		f.add(path+".rwmixread", "%d is out of range; expected 1 to 99 per cent of reads", w.RWMixRead)
	}
}
