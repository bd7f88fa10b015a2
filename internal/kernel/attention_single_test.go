package kernel

import (
	"slices"
	"testing"

	"attention/internal/simd"
	"attention/internal/testenv"

	"pgregory.net/rapid"
)

func TestAttentionOfOneQueryAgainstNaive(t *testing.T) {
	onPaths(t, testOneQuery[float32], testOneQuery[float64])
}

func testOneQuery[F Float](t *testing.T, _ simd.Set) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawQueries[F](t, 1, 70) // more heads than there are rows in a block
		x.run()
		x.verify(t)
	})
}

// TestAttentionOfOneQueryOnAnyCores: with many, a group of heads is shared.
func TestAttentionOfOneQueryOnAnyCores(t *testing.T) {
	p := newAttentionProblem[float32](Attention{B: 2, H: 140, K: 2, T: 1, S: 300, D: 16, DV: 24}, true)
	var out, lse []float32
	for _, cores := range []int{1, 2, 5, 32, 600} {
		testenv.SetProcs(t, cores)
		p.call().Forward()
		if out == nil {
			out, lse = slices.Clone(p.out), slices.Clone(p.lse)
		}
		requireBits(t, out, p.out)
		requireBits(t, lse, p.lse)
	}
}
