package kernel

import (
	"slices"
	"sync/atomic"
	"testing"

	"attention/internal/testenv"

	"github.com/stretchr/testify/assert"
)

// TestAttentionRuleThatPanics checks that no task waits for one that failed.
func TestAttentionRuleThatPanics(t *testing.T) {
	testenv.SetProcs(t, 4)
	p := newAttentionProblem[float32](Attention{B: 1, H: 2, K: 2, T: 640, S: 640, D: 16, DV: 16}, false)
	results := func() (all [][]float32) {
		p.run()
		for _, x := range [][]float32{p.out, p.lse, p.grad.Q, p.grad.K, p.grad.V} {
			all = append(all, slices.Clone(x))
		}
		return all
	}
	want := results()
	for at := range 10 {
		var calls atomic.Int64
		p.a.Shown = func(b, h, t, s0 int, shown []bool) bool {
			if calls.Add(1) > int64(at*300) {
				panic("the rule failed")
			}
			return false
		}
		assert.PanicsWithValue(t, "the rule failed", func() { p.call().Backward(p.grad, p.dout) })
	}
	p.a.Shown = nil
	for i, x := range results() {
		assert.True(t, sameBits(want[i], x), "result %d", i)
	}
}

func TestAttentionAllocatesNothing(t *testing.T) {
	if testenv.Race {
		return // the detector makes pools forget
	}
	p := newAttentionProblem[float32](Attention{
		B: 2, H: 4, K: 2, T: 300, S: 300, D: 16, DV: 16, Softcap: 30, Dropout: WeightDropout{P: 0.1},
		Visible: func(_, t int) (int, int) { return 0, t + 1 },
	}, true)
	p.run()
	// A collection may empty the pools once.
	assert.Less(t, testing.AllocsPerRun(50, p.run), 1.0)
}

// TestAttentionTilesAreBounded checks that the memory of a worker does not grow with T and S.
func TestAttentionTilesAreBounded(t *testing.T) {
	p := newAttentionProblem[float32](Attention{
		B: 1, H: 1, K: 1, T: 5000, S: 5000, D: 16, DV: 16,
		Visible: func(_, t int) (int, int) { return t - 9, t + 1 },
	}, false)
	p.run()
	for range 8 {
		w := poolOf[float32](&attentionTilePools).Get().(*attentionTiles[float32])
		assert.LessOrEqual(t, len(w.memory), 1<<16)
	}
}

// TestAttentionBitsDoNotDependOnGoroutines uses shapes with many blocks, heads that share keys, and a bias that all
// batches, heads and queries share.
func TestAttentionBitsDoNotDependOnGoroutines(t *testing.T) {
	T, S := 390, 420
	if testenv.Race { // plain Go becomes ten times slower
		T, S = 170, 190
	}
	for _, p := range paths() {
		t.Run(p.String(), func(t *testing.T) {
			onPath(t, p)
			for _, at := range []BiasLayout{{Query: S, Key: 1}, {Head: S * S, Query: S, Key: 1}, {Query: 1}, {}} {
				p := newAttentionProblem[float32](Attention{
					B: 2, H: 4, K: 2, T: T, S: S, D: 12, DV: 10,
					Visible: func(b, t int) (int, int) { return t - S/2, t + 50*b },
				}, false)
				p.a.BiasAt = at
				p.in.Bias, p.grad.Bias = normals[float32](p.rand, 4*S*S), make([]float32, 4*S*S)
				if at == (BiasLayout{}) { // instead a bias by distance that all heads share
					p.in.Bias, p.grad.Bias = nil, nil
					p.a.RelativeAt.Zero = S - 1
					p.in.Relative, p.grad.Relative = normals[float32](p.rand, T+S-1), make([]float32, T+S-1)
				}
				var want [][]float32
				for _, procs := range []int{1, 2, 5} {
					testenv.SetProcs(t, procs)
					clear(p.grad.Bias)
					p.run()
					got := [][]float32{p.out, p.lse, p.grad.Q, p.grad.K, p.grad.V, p.grad.Bias, p.grad.Relative}
					if want == nil {
						for _, x := range got {
							want = append(want, append([]float32(nil), x...))
						}
					}
					for i, x := range got {
						assert.True(t, sameBits(want[i], x), "result %d with %d goroutines", i, procs)
					}
				}
			}
		})
	}
}
