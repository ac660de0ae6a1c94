package spec

import (
	"regexp"

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
	checkGenerator(f, path, w)
	checkRate(f, path, w)
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
	checkSplit(f, path, w)
	if w.Warm && !w.Reads() {
		f.add(path+".warm", "rw %q%s reads nothing that could be in a cache; expected a load that reads", w.RW, ref(path+".rw"))
	}
	switch {
	case w.RWMixRead == 0:
	case !w.mixed():
		f.add(path+".rwmixread", "rw %q%s is not mixed; expected rw \"randrw\" or \"rw\"", w.RW, ref(path+".rw"))
	case w.RWMixRead < 1 || w.RWMixRead > 99:
		f.add(path+".rwmixread", "%d is out of range; expected 1 to 99 per cent of reads", w.RWMixRead)
	}
}

// checkGenerator refuses what the workload's load generator does not do.
func checkGenerator(f *faults, path string, w Workload) {
	if !choice(f, path+".generator", "generator", w.Generator, Generators) {
		return
	}
	if w.NumJobs < 0 || w.NumJobs > maxJobs {
		f.add(path+".numjobs", "%d is out of range; expected 1 to %d", w.NumJobs, maxJobs)
	}
	if !w.Ioping() {
		if w.Requests != 0 {
			f.add(path+".requests", "is ioping's; expected generator ioping beside it")
		}
		if w.Interval != 0 {
			f.add(path+".interval", "is ioping's; expected generator ioping beside it")
		}
		return
	}
	if w.Requests < 1 || w.Requests > 100_000 {
		f.add(path+".requests", "%d is out of range; expected the number of ioping's requests in a window, such as 10", w.Requests)
	}
	if w.Interval < 0 {
		f.add(path+".interval", "is negative; expected a time such as 1s")
	}
	for _, key := range keysOf(map[string]bool{
		"iodepth": w.IODepth > 1, "numjobs": w.Jobs() > 1, "fdatasync": w.FDataSync > 0, "bssplit": w.BSSplit != "",
		"rw": w.mixed() && w.RW != "",
	}) {
		f.add(path+"."+key, "ioping%s does one request at a time, reads or writes; expected generator fio", ref(path+".generator"))
	}
}

// checkRate refuses a rate that fio cannot hold the load to: ioping has none, a load that waits has its own, and with
// several block sizes fio takes each I/O for one of the smallest (its manual, at rate_iops).
func checkRate(f *faults, path string, w Workload) {
	if w.RateShare == 0 {
		return
	}
	if !(w.RateShare > 0 && w.RateShare <= 1) {
		f.add(path+".rate_share", "%g is out of range; expected a share above 0 and up to 1, such as 0.8", w.RateShare)
	}
	for _, key := range keysOf(map[string]bool{"generator": w.Ioping(), "thinktime": w.ThinkTime > 0, "bssplit": w.BSSplit != ""}) {
		f.add(path+"."+key, "cannot be held to a rate by rate_share%s; expected a load of fio without waits and of one block size", ref(path+".rate_share"))
	}
}

// checkSplit checks fio's distribution of block sizes and its share of random I/Os.
func checkSplit(f *faults, path string, w Workload) {
	if w.BSIsSeqRand && w.BSSplit == "" {
		f.add(path+".bs_is_seq_rand", "is about bssplit; expected that beside it")
	}
	if a := w.BlockAlign; a < 0 || a%512 != 0 {
		f.add(path+".blockalign", "%s is not allowed; expected a multiple of 512 bytes", unit.ExactBytes(a))
	}
	if w.ThinkTime < 0 {
		f.add(path+".thinktime", "is negative; expected a time such as 10ms")
	}
	if w.ThinkTimeBlocks < 0 || w.ThinkTimeBlocks > 0 && w.ThinkTime == 0 {
		f.add(path+".thinktime_blocks", "%d is not allowed; expected the number of I/Os between two waits, and thinktime beside it", w.ThinkTimeBlocks)
	}
	if w.BSSplit != "" && !splitForm.MatchString(w.BSSplit) {
		f.add(path+".bssplit", "%q is not fio's; expected sizes with per cents such as 4k/60:64k/40", clip(w.BSSplit))
	}
	if p := w.PercentageRandom; p != "" && !randomForm.MatchString(p) {
		f.add(path+".percentage_random", "%q is not fio's; expected 0 to 100 per cent such as 12, or two for reads and writes such as 0,100", clip(p))
	} else if p != "" && w.Sequential() {
		f.add(path+".percentage_random", "rw %q%s is sequential; expected rw \"randread\", \"randwrite\" or \"randrw\"", w.RW, ref(path+".rw"))
	}
}

// splitForm is fio's bssplit: sizes with per cents, for reads and writes alike or for each.
var splitForm = regexp.MustCompile(`^[0-9]+[km]?/[0-9]+(:[0-9]+[km]?/[0-9]+)*(,[0-9]+[km]?/[0-9]+(:[0-9]+[km]?/[0-9]+)*)?$`)

// randomForm is fio's percentage_random.
var randomForm = regexp.MustCompile(`^(100|[1-9]?[0-9])(,(100|[1-9]?[0-9]))?$`)

const maxJobs = 64
