package kernel

import (
	"testing"

	"attention/internal/simd"

	"pgregory.net/rapid"
)

// TestAttentionStaysInside gives attentions arguments that begin or end at a page border beyond which any access is a
// fault.
func TestAttentionStaysInside(t *testing.T) {
	onPaths(t, testStaysInside[float32], testStaysInside[float64])
	for _, p := range paths() {
		t.Run(p.String()+", bf16", func(t *testing.T) {
			onPath(t, p)
			staysInside(t, func(t *rapid.T) *attentionProblem[float32] {
				x := drawProblem[float32](t)
				inBF16(x)
				return x
			})
		})
	}
}

func testStaysInside[F Float](t *testing.T, _ simd.Set) {
	staysInside(t, drawProblem[F])
	staysInside(t, func(t *rapid.T) *attentionProblem[F] { return drawQueries[F](t, 1, 8) })
}

func staysInside[F Float](t *testing.T, draw func(*rapid.T) *attentionProblem[F]) {
	rapid.Check(t, func(rt *rapid.T) {
		x := draw(rt)
		if x.a.B*x.a.H*x.a.T*x.a.S > 1<<13 {
			return // the test is about edges
		}
		t.Run("one", func(t *testing.T) { // unmaps the memory when done
			flushEnd := x.rand.IntN(2) == 0
			trimmed := []struct {
				slice              *[]F
				batch, heads, rows int
				width              int
				at                 HeadLayout
			}{
				{&x.in.Q, x.a.B, x.a.H, x.a.T, x.a.D, x.a.QueryAt}, {&x.grad.Q, x.a.B, x.a.H, x.a.T, x.a.D, x.a.QueryAt},
				{&x.in.K, x.a.B, x.a.K, x.a.S, x.a.D, x.a.KeyAt}, {&x.grad.K, x.a.B, x.a.K, x.a.S, x.a.D, x.a.KeyAt},
				{&x.in.V, x.a.B, x.a.K, x.a.S, x.a.DV, x.a.ValueAt}, {&x.grad.V, x.a.B, x.a.K, x.a.S, x.a.DV, x.a.ValueAt},
				{&x.out, x.a.B, x.a.H, x.a.T, x.a.DV, x.a.OutputAt}, {&x.dout, x.a.B, x.a.H, x.a.T, x.a.DV, x.a.OutputAt},
			}
			for _, s := range trimmed {
				last := s.at.at(s.batch-1, s.heads-1, s.rows-1) + s.width
				*s.slice = guarded(t, (*s.slice)[:last], flushEnd)
			}
			x.lse = guarded(t, x.lse[:RowNumbers*x.a.B*x.a.H*x.a.T], flushEnd)
			x.run()
			x.verify(rt)
		})
	})
}
