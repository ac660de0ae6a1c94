//go:build !amd64

package vm

// rdtsc stands for a processor without a time stamp counter.
func rdtsc() int64 { return 0 }
