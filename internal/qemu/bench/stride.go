package bench

import "math"

// golden is the golden ratio less one. Steps of this part of a range never come back close to where they have just been:
// of all steps they spread the first n positions best, for every n (the three-distance theorem).
const golden = 0.6180339887498949

// Stride returns a step in bytes that makes qemu-img bench visit the blocks of a disk in no order that a device, a kernel
// or a host's cache could read ahead of. It has no random offsets, and its default, one block, is sequential.
//
// Every block is visited once before any is visited twice: the step has no divisor in common with the number of blocks,
// neither with that of the whole disk nor with one less, since versions of QEMU differ in where they wrap around.
func Stride(size, block int64) int64 {
	blocks := size / block
	if blocks < 4 {
		return block
	}
	most := int64(math.MaxInt32) / block // what -S takes
	step := max(int64(golden*float64(min(blocks, most))), 1)
	for divisor(step, blocks) != 1 || divisor(step, blocks-1) != 1 {
		step-- // 1 has no divisor in common with anything
	}
	return step * block
}

// divisor is the greatest that both have in common.
func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Start returns where a run begins: a block of the disk that the seed picks, so that no two windows do the same. The last
// block is left out, where a version of QEMU wraps around before it.
func Start(seed uint64, size, block int64) int64 {
	blocks := size/block - 1
	if blocks < 1 {
		return 0
	}
	return int64(seed%uint64(blocks)) * block
}
