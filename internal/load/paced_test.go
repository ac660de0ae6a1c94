package load

import (
	"os"
	"strings"
	"testing"
	"time"
)

// A generator that paces itself has exact timers, any other those of this process; and so has the next one.
func TestPacedGeneratorHasExactTimers(t *testing.T) {
	const file = "/proc/self/timerslack_ns"
	usual, err := os.ReadFile(file)
	if err != nil {
		t.Skip(err)
	}
	for i, paced := range []bool{false, true, false, true} {
		r, err := Run(t.Context(), Request{Argv: []string{"cat", file}, Paced: paced, Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		want := strings.TrimSpace(string(usual))
		if paced {
			want = "1"
		}
		if got := strings.TrimSpace(string(r.Output)); got != want {
			t.Errorf("generator %d, paced %v, has %s ns of slack, want %s", i, paced, got, want)
		}
	}
}
