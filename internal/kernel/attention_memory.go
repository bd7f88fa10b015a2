package kernel

// attentionTiles is the memory of one worker: a few blocks of a size that does not depend on T and S.
type attentionTiles[F Float] struct {
	memory []F
	t0     int   // the first query of the block
	lo, hi []int // the keys that Visible allows each query of the block
	// For queries that are not consecutive: their numbers, and memory for lo and hi and for the queries' rows.
	queries            []int32
	chosenLo, chosenHi [queryBlock]int
	gathered           [2][]F
	numbers            [4][queryBlock]F
	// The results of Shown for a tile: the queries that do not see all keys, and the keys that each of them sees.
	holes [queryBlock]bool
	shown [queryBlock * keyBlock]bool

	columns [keyBlock]F    // 0, 1, 2, …
	copies  [2]headCopy[F] // forward: copies of keys and values; backward: of queries and the gradients of the output

	pairs []F // of a tile's weights, or of rows before they are transposed

	zeros, ones, columnSums []F
	sums                    [keyBlock]F // of rows times zeros
}

var attentionTilePools = newPools[attentionTiles[float32], attentionTiles[float64]]()

// cut divides the memory into slices of the given lengths, each beginning on a cache line if the memory does.
func (w *attentionTiles[F]) cut(slices []*[]F, lengths ...int) {
	total := 0
	for _, n := range lengths {
		total += wholeVectors(n)
	}
	rest := room(&w.memory, total)
	for i, n := range lengths {
		*slices[i] = rest[:n:n]
		rest = rest[wholeVectors(n):]
	}
}

// vector is a multiple of the number of elements of a vector on every path; sizes of blocks are multiples of it.
const vector = 16

func wholeVectors(n int) int { return (n + vector - 1) &^ (vector - 1) }

// selectQueries sets lo and hi to the keys that Visible allows the queries [t0,t0+rows).
func (r *attentionRun[F]) selectQueries(w *attentionTiles[F], b, t0, rows int) {
	w.t0, w.queries = t0, nil
	w.lo, w.hi = r.lo[b*r.T+t0:][:rows], r.hi[b*r.T+t0:][:rows]
}

// resize returns n elements of s, or of new memory if s is too short. Their values are undefined.
func resize[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}
