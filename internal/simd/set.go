package simd

import "slices"

// Set is one of the instruction sets that have kernels in assembly, or plain Go.
type Set uint8

const (
	Go Set = iota
	AVX2
	AVX512
	NEON
)

// inUse is the set of all kernels: the processor's best, or the one in the environment variable. Only Use changes it.
var inUse = chosen.set

// Current returns the set whose kernels this process runs.
func Current() Set { return inUse }

// Use makes this process run the kernels of another set, for a test, and returns the set before.
func Use(s Set) (before Set) {
	before, inUse = inUse, s
	return before
}

// Sets returns the sets that this process can run, plain Go first, then from the worst to the best.
func Sets() []Set {
	all := []Set{Go}
	for _, s := range slices.Backward(builtSets) {
		if lacked(s) == "" {
			all = append(all, s)
		}
	}
	return all
}

func (s Set) String() string {
	switch s {
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	case NEON:
		return "neon"
	}
	return "go"
}

// InstructionSet returns the name of the kernels that this process runs: "avx512", "avx2",
// "neon" or "go". They are this processor's best unless Variable names another.
func InstructionSet() string { return inUse.String() }

// TileShape returns the height of the tallest tile and the elements of a vector; a tile is two vectors wide.
func TileShape[F Float]() (rows, lanes int) {
	switch inUse {
	case AVX512:
		return 12, 64 / SizeOf[F]()
	case AVX2:
		return 6, 32 / SizeOf[F]()
	case NEON:
		return 12, 16 / SizeOf[F]()
	}
	return goRows, goColumns / 2
}

// TileWidth returns the number of columns of a tile.
func TileWidth[F Float]() int {
	_, lanes := TileShape[F]()
	return 2 * lanes
}
