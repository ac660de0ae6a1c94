package zfs

import (
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
)

func TestArguments(t *testing.T) {
	var text strings.Builder
	add := func(what string, argv []string) { text.WriteString("# " + what + "\n" + sys.Quote(argv) + "\n") }
	zvol := func(s spec.Stack, size int64) []string {
		return zvolArgs("r1", "tank/iotax-r1-a", provision.Request{Stack: s, Size: size})
	}
	add("a pool", poolArgs("r1", "iotax-r1-a", "/dev/loop0"))
	add("a zvol", zvol(spec.Stack{}, 64<<20))
	add("a zvol, everything set", zvol(spec.Stack{VolBlockSize: 4096, Compression: "zstd", PrimaryCache: "none", Sync: "always"}, 64<<20))
	add("a zvol whose last block is not full", zvol(spec.Stack{VolBlockSize: 128 << 10}, 64<<20+4096))
	add("a dataset", fileArgs("r1", "iotax-r1-a/volume", spec.Stack{}, 70<<20))
	add("a dataset, everything set", fileArgs("r1", "tank/iotax-r1-a", spec.Stack{RecordSize: 8192, Compression: "lz4", PrimaryCache: "metadata", Sync: "disabled"}, 1))
	golden.Equal(t, "testdata/arguments.want", text.String())
}

func TestSpace(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct{ size, block, want int64 }{
		{64 * mib, 4096, 64*mib + 16384*256 + 4*mib},
		{64 * mib, 128 << 10, 64*mib + 512*256 + 4*mib},
		{4096, 128 << 10, 128<<10 + 256 + 4*mib},
		{mib, 512, 2048*(4096+256) + 4*mib}, // no block takes less than the pool's smallest
	} {
		if got := space(tt.size, tt.block); got != tt.want {
			t.Errorf("space(%d, %d) = %d, want %d", tt.size, tt.block, got, tt.want)
		}
	}
	if got := poolSize(100 * mib); got != (125+192)*mib {
		t.Errorf("a pool for 100 MiB has %d", got)
	}
}
