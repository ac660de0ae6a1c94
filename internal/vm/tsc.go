package vm

import (
	"sync"
	"time"
)

// tscKHz is the rate of this host's time stamp counter in kHz, 0 where there is none. An emulated guest reads the same
// counter (QEMU's cpu_get_host_ticks), so it can be told the rate.
var tscKHz = sync.OnceValue(func() int64 {
	const apart = 50 * time.Millisecond
	first := readTSC()
	time.Sleep(apart)
	last := readTSC()
	return (last.ticks - first.ticks) * int64(time.Millisecond) / int64(last.at.Sub(first.at))
})

// tick is the counter at one moment.
type tick struct {
	ticks int64
	at    time.Time
}

// readTSC reads the counter between two looks at the clock, a few times, and keeps the reading whose looks lie closest: this
// thread was not interrupted between those.
func readTSC() (best tick) {
	const looks = 32
	closest := time.Duration(1<<63 - 1)
	for range looks {
		before := time.Now()
		ticks := rdtsc()
		if took := time.Since(before); took < closest {
			best, closest = tick{ticks, before.Add(took / 2)}, took
		}
	}
	return best
}
