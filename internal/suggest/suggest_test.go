package suggest

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	buses := []string{"virtio-blk", "virtio-scsi", "virtio-scsi-single", "sata", "ide", "nvme", "lsi53c895a", "megasas", "pvscsi"}
	commands := []string{"clean", "doctor", "list", "run"}
	for _, tt := range []struct {
		word    string
		choices []string
		want    string
	}{
		{"virtio-blok", buses, "virtio-blk"},
		{"Virtio-SCSI", buses, "virtio-scsi"},
		{"virtioscsi", buses, "virtio-scsi"},
		{"sat", buses, "sata"},
		{"scsi", buses, "pvscsi"},
		{"floppy", buses, ""},
		{"", buses, ""},
		{strings.Repeat("virtio-blk", 100), buses, ""},
		{"rnu", commands, "run"},
		{"RUN", commands, "run"},
		{"lsit", commands, "list"},
		{"dcotro", commands, "doctor"},
		{"xyzzy", commands, ""},
		{"run", nil, ""},
		{"kvm", []string{"KVM"}, "KVM"},
	} {
		if got := Nearest(tt.word, tt.choices); got != tt.want {
			t.Errorf("Nearest(%.20q) = %q, want %q", tt.word, got, tt.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"run", "run", 0},
		{"rnu", "run", 1},
		{"qick", "quick", 1},
		{"virtio-blok", "virtio-blk", 1},
		{"kitten", "sitting", 3},
		{"ä", "a", 1},
	} {
		if got := distance([]rune(tt.a), []rune(tt.b)); got != tt.want {
			t.Errorf("%q to %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
