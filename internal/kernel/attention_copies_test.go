package kernel

import (
	"testing"

	"attention/internal/simd"

	"github.com/stretchr/testify/assert"
)

// TestAttentionOfCopies compares attentions on strided rows, which workers copy, with attentions on contiguous rows:
// the bits are the same, also in the next call, with other numbers in the same memory.
func TestAttentionOfCopies(t *testing.T) { onPaths(t, testCopies[float32], testCopies[float64]) }

func testCopies[F Float](t *testing.T, p simd.Set) {
	skipPlainGo(t, p)
	rules := map[string]func(b, t int) (int, int){
		"causal":        func(_, t int) (int, int) { return 0, t + 1 },
		"window":        func(b, t int) (int, int) { return t - 150, t + 70*b },
		"all, one head": nil, // the worker copied it in the previous call
	}
	for rule, visible := range rules {
		heads := Attention{B: 2, H: 2, K: 2}
		switch {
		case visible == nil:
			heads = Attention{B: 1, H: 1, K: 1}
		case rule == "window":
			heads.H = 4 // of which two share one
		}
		apart := newAttentionProblem[F](Attention{
			B: heads.B, H: heads.H, K: heads.K, T: copiesFrom + 30, S: copiesFrom + 61, D: 16, DV: 19, Visible: visible,
		}, false)
		a := apart.a
		if visible == nil {
			a.QueryAt.Row, a.KeyAt.Row, a.ValueAt.Row, a.OutputAt.Row = a.D+1, a.D+1, a.DV+1, a.DV+1
			apart.sizeQ, apart.sizeK = a.T*(a.D+1), a.S*(a.D+1)
			apart.sizeV, apart.sizeOut = a.S*(a.DV+1), a.T*(a.DV+1)
			apart.fill()
		}
		r := attentionRun[F]{AttentionCall: AttentionCall[F]{Attention: *a}}
		assert.True(t, r.copies(&a.KeyAt, a.S, a.D), "rows apart are not copied")
		together := *apart
		b := *a
		together.a = &b
		b.QueryAt, b.OutputAt = HeadsFirst(a.H, a.T, a.D), HeadsFirst(a.H, a.T, a.DV)
		b.KeyAt, b.ValueAt = HeadsFirst(a.K, a.S, a.D), HeadsFirst(a.K, a.S, a.DV)
		together.sizeQ, together.sizeK = a.B*a.H*a.T*a.D, a.B*a.K*a.S*a.D
		together.sizeV, together.sizeOut = a.B*a.K*a.S*a.DV, a.B*a.H*a.T*a.DV
		together.fill()
		for range 2 {
			apart.fill()
			move := func(dst []F, to HeadLayout, src []F, from HeadLayout, heads, rows, width int) {
				for i := range a.B * heads * rows {
					b, h, t := i/heads/rows, i/rows%heads, i%rows
					copy(dst[to.at(b, h, t):][:width], src[from.at(b, h, t):])
				}
			}
			move(together.in.Q, b.QueryAt, apart.in.Q, a.QueryAt, a.H, a.T, a.D)
			move(together.in.K, b.KeyAt, apart.in.K, a.KeyAt, a.K, a.S, a.D)
			move(together.in.V, b.ValueAt, apart.in.V, a.ValueAt, a.K, a.S, a.DV)
			move(together.dout, b.OutputAt, apart.dout, a.OutputAt, a.H, a.T, a.DV)
			apart.run()
			together.run()
			for _, x := range []struct {
				name        string
				got, want   []F
				at, from    HeadLayout
				heads, rows int
				width       int
			}{
				{"out", apart.out, together.out, a.OutputAt, b.OutputAt, a.H, a.T, a.DV},
				{"dq", apart.grad.Q, together.grad.Q, a.QueryAt, b.QueryAt, a.H, a.T, a.D},
				{"dk", apart.grad.K, together.grad.K, a.KeyAt, b.KeyAt, a.K, a.S, a.D},
				{"dv", apart.grad.V, together.grad.V, a.ValueAt, b.ValueAt, a.K, a.S, a.DV},
			} {
				got := make([]F, len(x.want))
				move(got, x.from, x.got, x.at, x.heads, x.rows, x.width)
				assert.True(t, sameBits(x.want[:len(got)], got), "%s, %s", rule, x.name)
			}
			assert.True(t, sameBits(together.lse, apart.lse), "%s, lse", rule)
		}
	}
}

// TestAttentionCopiesAreBounded checks that heads that are too large are not copied.
func TestAttentionCopiesAreBounded(t *testing.T) {
	r := attentionRun[float32]{AttentionCall: AttentionCall[float32]{Attention: Attention{T: 1 << 20}}}
	for _, c := range []struct {
		rows, width int
		at          HeadLayout
		want        bool
		reason      string
	}{
		{rows: copiesMost / 64, width: 64, at: HeadLayout{Row: 65}, want: true},
		{rows: copiesMost/64 + 1, width: 64, at: HeadLayout{Row: 65}, reason: "too many elements"},
		{rows: 1 << 62, width: 64, at: HeadLayout{Row: 65}, reason: "far too many"},
		{rows: 1000, width: 64, at: HeadLayout{Row: 64}, reason: "rows lie side by side"},
		{rows: 1000, width: 1, at: HeadLayout{Row: 12}, reason: "narrow rows"},
		{rows: 1000, width: 0, at: HeadLayout{Row: 12}, reason: "no elements"},
	} {
		assert.Equal(t, c.want, r.copies(&c.at, c.rows, c.width), c.reason)
	}
}
