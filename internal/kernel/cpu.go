package kernel

// path is one of the instruction sets that have kernels in assembly, or plain Go.
type path uint8

const (
	pathGo path = iota
	pathAVX2
	pathAVX512
	pathNEON
)

// chosenPath is the path of all kernels: the processor's best, or what the environment asks for. Only tests change it.
var chosenPath = chosen.path

func (p path) String() string {
	switch p {
	case pathAVX2:
		return "avx2"
	case pathAVX512:
		return "avx512"
	case pathNEON:
		return "neon"
	}
	return "go"
}

// InstructionSet returns the name of the kernels that this process runs: "avx512", "avx2",
// "neon" or "go". They are this processor's best unless Variable names another.
func InstructionSet() string { return chosenPath.String() }

// tileShape returns the height of the tallest tile and the elements of a vector; a tile is two vectors wide.
func tileShape[F Float](p path) (rows, lanes int) {
	switch p {
	case pathAVX512:
		return 12, 64 / sizeOf[F]()
	case pathAVX2:
		return 6, 32 / sizeOf[F]()
	case pathNEON:
		return 12, 16 / sizeOf[F]()
	}
	return goRows, goColumns / 2
}

// tileWidth returns the number of columns of a tile.
func tileWidth[F Float](p path) int {
	_, lanes := tileShape[F](p)
	return 2 * lanes
}
