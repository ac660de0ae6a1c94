package caps

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// small is a schema of the shape that QEMU gives, since 6.2 with enum members and before with values alone.
const small = `[
 {"name": "blockdev-add", "meta-type": "command", "arg-type": "1", "ret-type": "0"},
 {"name": "stop", "meta-type": "command", "arg-type": "0", "ret-type": "0"},
 {"name": "0", "meta-type": "object", "members": []},
 {"name": "1", "meta-type": "object", "tag": "driver",
  "members": [{"name": "driver", "type": "2"}, {"name": "read-only", "type": "bool", "default": null}],
  "variants": [{"case": "null-co", "type": "0"}, {"case": "file", "type": "3"}, {"case": "host_device", "type": "4"}]},
 {"name": "2", "meta-type": "enum", "values": ["null-co", "file", "host_device"],
  "members": [{"name": "null-co"}, {"name": "file"}, {"name": "host_device"}]},
 {"name": "3", "meta-type": "object", "members": [{"name": "filename", "type": "str"}, {"name": "aio", "type": "5"}]},
 {"name": "4", "meta-type": "object", "members": [{"name": "aio", "type": "6"}]},
 {"name": "5", "meta-type": "enum", "values": ["threads", "native"]},
 {"name": "6", "meta-type": "enum", "members": [{"name": "threads"}, {"name": "io_uring"}]},
 {"name": "bool", "meta-type": "builtin", "json-type": "boolean"}
]`

func TestArgument(t *testing.T) {
	s, err := parseSchema([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		command, variant, name string
		want                   []string
	}{
		{"blockdev-add", "", "driver", []string{"file", "host_device", "null-co"}},
		{"blockdev-add", "file", "aio", []string{"native", "threads"}},
		{"blockdev-add", "host_device", "aio", []string{"io_uring", "threads"}},
		{"blockdev-add", "null-co", "aio", nil},
		{"blockdev-add", "nfs", "aio", nil},
		{"blockdev-add", "", "aio", nil},
		{"blockdev-add", "", "read-only", nil}, // no enumeration
		{"stop", "", "driver", nil},
		{"no-such-command", "file", "aio", nil},
	}
	for _, tt := range tests {
		got := s.argument(tt.command, tt.variant, tt.name)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("argument(%q, %q, %q) (-want +got):\n%s", tt.command, tt.variant, tt.name, diff)
		}
	}
}

func TestParseSchemaBad(t *testing.T) {
	for _, data := range []string{"", "{}", `[{"name": 1}]`} {
		if _, err := parseSchema([]byte(data)); err == nil {
			t.Errorf("parseSchema(%s): no error", data)
		}
	}
}

func FuzzSchema(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(`[{"name": "blockdev-add", "arg-type": "blockdev-add", "variants": [{"case": "file", "type": "blockdev-add"}]}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := parseSchema(data); err == nil {
			s.argument("blockdev-add", "", "driver")
			s.argument("blockdev-add", "file", "aio")
		}
	})
}
