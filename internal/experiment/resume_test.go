package experiment

import (
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/record"
)

func TestResumeOnAnotherHost(t *testing.T) {
	host := record.Host{Accelerator: "tcg", Kernel: "6.1", GuestKernel: "6.1", CPU: "EPYC", QEMU: "7.2.22", Fio: "3.33"}
	r := &Ready{Facts: host, Options: Options{Resume: &record.Run{ID: "7k2f", Host: host}, Done: make([]record.Window, 1)}}
	if err := r.sameHost(); err != nil {
		t.Errorf("the same host: %v", err)
	}
	r.Facts.Accelerator, r.Facts.QEMU = "kvm", "10.0.2"
	err := r.sameHost()
	if err == nil || errkind.CodeOf(err) != errkind.Usage {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{`its accelerator was "tcg", now it is "kvm"`, `its QEMU was "7.2.22", now it is "10.0.2"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	r.Done = nil
	if err := r.sameHost(); err != nil {
		t.Errorf("nothing was measured yet: %v", err)
	}
}

func TestResumeKeepsTheStacks(t *testing.T) {
	r := &Ready{
		Options: Options{Resume: &record.Run{ID: "7k2f", Stacks: []record.Stack{{Name: "a"}, {Name: "b", Unavailable: "no qcow2", Mend: "install it"}}}},
		Stacks:  []record.Stack{{Name: "a"}, {Name: "b"}},
	}
	if err := r.asBefore(); err != nil || r.Stacks[0].Unavailable != "" || r.Stacks[1].Unavailable != "no qcow2" {
		t.Errorf("%+v, %v", r.Stacks, err)
	}
	r.Resume.Stacks[0] = record.Stack{Name: "a", Unavailable: "its daemon did not start", AtBoot: true}
	if err := r.asBefore(); err != nil || r.Stacks[0].Unavailable != "" {
		t.Errorf("a stack that one boot could not offer was in the plan, and now it is %+v, %v", r.Stacks[0], err)
	}
	r.Stacks[0].Unavailable, r.Stacks[0].Mend = "io_uring is forbidden", "allow it"
	err := r.asBefore()
	if errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), "a, which it planned, is unavailable now: io_uring is forbidden; allow it") {
		t.Errorf("got %v", err)
	}
	if err := (&Ready{Stacks: []record.Stack{{Name: "a", Unavailable: "x"}}}).asBefore(); err != nil {
		t.Errorf("a new run: %v", err)
	}
}

func TestAgain(t *testing.T) {
	r := &Ready{Options: Options{Resume: &record.Run{ID: "7k2f", Status: record.Partial, Reason: "interrupted"}, Done: make([]record.Window, 5)}}
	r.Resume.Ended = r.Resume.Started.AddDate(1, 0, 0)
	run := r.again()
	if run.Status != record.Running || run.Reason != "" || !run.Ended.IsZero() || len(run.Warnings) != 1 || !strings.Contains(run.Warnings[0], "after 5 windows") {
		t.Errorf("%+v", run)
	}
	if r.Resume.Status != record.Partial || len(r.Resume.Warnings) != 0 {
		t.Errorf("the stored run was changed: %+v", r.Resume)
	}
}
