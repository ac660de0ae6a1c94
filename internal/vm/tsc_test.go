package vm

import (
	"strings"
	"testing"
	"time"
)

// The counter that is told to guests runs as fast as was measured: a second look, far later, agrees.
func TestTSC(t *testing.T) {
	if rdtsc() == 0 {
		t.Skip("this processor has no time stamp counter")
	}
	first, khz := readTSC(), tscKHz()
	time.Sleep(200 * time.Millisecond)
	last := readTSC()
	elapsed := last.at.Sub(first.at)
	counted := time.Duration(float64(last.ticks-first.ticks) / float64(khz) * float64(time.Millisecond))
	if drift := (counted - elapsed).Abs(); drift > elapsed/100 {
		t.Errorf("at %d kHz the counter says that %v passed, the clock %v", khz, counted, elapsed)
	}
}

func TestKernelArgs(t *testing.T) {
	for name, tt := range map[string]struct {
		accel string
		khz   int64
		want  string // end of the command line
	}{
		"emulated":               {"tcg", 2300000, " no_timer_check tsc=reliable tsc_early_khz=2300000"},
		"emulated, no counter":   {"tcg", 0, " tsc=reliable"},
		"KVM has a clock of its": {"kvm", 2300000, " cryptomgr.notests"},
	} {
		if got := kernelArgs(tt.accel, tt.khz); !strings.HasSuffix(got, tt.want) {
			t.Errorf("%s: %q does not end with %q", name, got, tt.want)
		}
	}
}
