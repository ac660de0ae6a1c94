package provision

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Noise fills a buffer with the bytes of an endless pseudo-random stream from position at (a multiple of 8). The same
// seed and position give the same bytes, so that several workers write one volume. No two blocks of a stream are
// alike, and they cannot be compressed or deduplicated.
//
// It is SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014) used as a function of
// the position: about 5 GB/s on one core, five times ChaCha8 of math/rand/v2.
func Noise(buffer []byte, seed uint64, at int64) {
	const gamma = 0x9e3779b97f4a7c15
	state := mix(seed) + uint64(at/8)*gamma
	for len(buffer) >= 8 {
		state += gamma
		binary.LittleEndian.PutUint64(buffer, mix(state))
		buffer = buffer[8:]
	}
	if len(buffer) > 0 {
		var last [8]byte
		binary.LittleEndian.PutUint64(last[:], mix(state+gamma))
		copy(buffer, last[:])
	}
}

// Content is the data that a volume is filled with.
type Content struct {
	Seed         uint64
	Compressible float64 // share of every half KiB that is zeros, 0 to 0.9
}

// compressChunk is the unit of which a part is zeros, in bytes: the smallest sector, so that every block that any
// storage compresses has the same share of them.
const compressChunk = 512

// Write fills a buffer with the content from position at, both multiples of compressChunk.
func (c Content) Write(buffer []byte, at int64) {
	Noise(buffer, c.Seed, at)
	if c.Compressible <= 0 {
		return
	}
	data := compressChunk - int(c.Compressible*compressChunk)
	for chunk := range slices.Chunk(buffer, compressChunk) {
		clear(chunk[min(data, len(chunk)):])
	}
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// seedOf gives each of several volumes a stream of its own.
func seedOf(seed uint64, index int) uint64 {
	return mix(bits.RotateLeft64(seed, 32) + uint64(index))
}
