package sys

import "testing"

// A program that succeeded has done so, even if a child of its keeps its output open.
func TestRunLeavesAChildBehind(t *testing.T) {
	out, err := Exec{}.Run(t.Context(), Command{Argv: []string{"sh", "-c", "sleep 3 & echo done"}})
	if err != nil || string(out) != "done\n" {
		t.Errorf("%q, %v", out, err)
	}
}
