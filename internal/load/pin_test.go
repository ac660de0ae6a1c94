package load

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestPin(t *testing.T) {
	q := Request{Argv: []string{"/bin/sh", "-c", "sleep 0.05; grep Cpus_allowed_list /proc/self/status"}, CPUs: "0", Timeout: time.Minute}
	r, err := Run(t.Context(), q)
	if err != nil || strings.TrimSpace(string(r.Output)) != "Cpus_allowed_list:\t0" {
		t.Errorf("on CPU 0: %q, %v", r.Output, err)
	}
	for _, list := range []string{"x", "1-", "2-1", "0,,1"} {
		if err := pin(os.Getpid(), list); err == nil {
			t.Errorf("the list %q was taken", list)
		}
	}
	if err := pin(os.Getpid(), "1023"); err == nil {
		t.Error("a CPU that is not there was taken")
	}
}
