package vm

// rdtsc reads the processor's time stamp counter.
func rdtsc() int64
