package kernel

import (
	"math"
	"math/big"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAttentionHiddenRows(t *testing.T) {
	// Batch 0 sees nothing; in batch 1 every third query; the keys from 140 on are seen by none.
	p := newAttentionProblem[float32](Attention{B: 2, H: 2, K: 1, T: 200, S: 150, D: 8, DV: 8, Visible: func(b, t int) (int, int) {
		return 3, 140 * b * min(t%3, 1)
	}}, false)
	p.run()
	for i, v := range p.out {
		if b, row := i/(200*16), i/16%200; b == 0 || row%3 == 0 {
			assert.Zero(t, v, "out %d", i)
			assert.Zero(t, p.grad.Q[i], "dq %d", i)
		} else {
			assert.NotZero(t, v, "out %d", i)
		}
	}
	for i, v := range p.grad.K {
		if b, s := i/(150*8), i/8%150; b == 0 || s < 3 || s >= 140 {
			assert.Zero(t, v, "dk %d", i)
			assert.Zero(t, p.grad.V[i], "dv %d", i)
		} else {
			assert.NotZero(t, v, "dk %d", i)
		}
	}
	assert.Equal(t, lowest[float32](), p.lse[0])
	p.verify(t)
}

// TestAttentionHiddenByBias hides every key of some rows by −∞, which the rule does not know.
func TestAttentionHiddenByBias(t *testing.T) {
	p := newAttentionProblem[float64](Attention{B: 1, H: 2, K: 2, T: 70, S: 90, D: 5, DV: 3, Softcap: 3}, true)
	for i := range p.in.Bias {
		if row := i / 90; row%4 == 1 {
			p.in.Bias[i] = lowest[float64]()
		}
	}
	p.run()
	p.verify(t)
	for i := 1; i < 2*70; i += 4 {
		h, row := i/70, i%70
		assert.Equal(t, p.in.Sinks[h], p.lse[i])
		assert.Equal(t, make([]float64, 3), p.out[(row*2+h)*3:][:3])
		assert.Equal(t, make([]float64, 5), p.grad.Q[(row*2+h)*5:][:5])
	}
}

// TestAttentionHugeScores takes scores that overflow an exponential by far.
func TestAttentionHugeScores(t *testing.T) {
	for _, size := range []float64{1e4, 1e30} {
		p := newAttentionProblem[float32](Attention{B: 1, H: 1, K: 1, T: 3, S: 100, D: 2, DV: 2}, false)
		p.a.Scale = 1
		for i := range p.in.Q {
			p.in.Q[i] = 1
		}
		for s := range 100 {
			x := float32(size)
			if s != 37 {
				x = -x + float32(s)
			}
			p.in.K[2*s], p.in.K[2*s+1] = x, 0
		}
		p.run()
		for row := range 3 {
			assert.Equal(t, p.in.V[37*2:37*2+2], p.out[row*2:row*2+2])
			assert.Equal(t, float32(size), p.lse[row])
		}
		for _, x := range [][]float32{p.grad.Q, p.grad.K} {
			for _, v := range x {
				// dP and Σ dOut⊙Out are the same sum, but for their rounding.
				assert.InDelta(t, 0, v, 4*0x1p-23*size)
			}
		}
	}
}

// TestAttentionGrowingScores raises the maximum from tile to tile, by little and by much.
func TestAttentionGrowingScores(t *testing.T) {
	for _, step := range []float64{0.001, 0.05, 1.5, 30} {
		p := newAttentionProblem[float32](Attention{B: 1, H: 1, K: 1, T: 70, S: 1000, D: 1, DV: 2}, false)
		for i := range p.in.Q {
			p.in.Q[i] = 1
		}
		for s := range p.in.K {
			p.in.K[s] = float32(step * float64(s))
		}
		p.run()
		p.verify(t)
	}
}

// TestAttentionSoftcap compares with tanh in higher precision, for scores near 0 and far from it.
func TestAttentionSoftcap(t *testing.T) {
	for _, p := range paths() {
		testSoftcap[float32](t, p, 4*0x1p-24)
		testSoftcap[float64](t, p, 4*0x1p-53)
	}
}

func testSoftcap[F Float](t *testing.T, p path, tolerance float64) {
	for _, c := range []F{1, 30, 1e-3, 1e6} {
		var x, start, slope [64]F
		for i := range x {
			x[i] = c * F(math.Ldexp(1-2*float64(i%2), i/2-26)) * 1.1
			if i > 58 {
				x[i] = []F{0, F(math.Copysign(0, -1)), F(math.Inf(1)), lowest[F](), F(math.NaN())}[i-59]
			}
			start[i] = x[i]
		}
		capRows(p, 2, 32, x[:], 32, slope[:], c)
		for i, v := range start {
			want := math.Tanh(float64(v) / float64(c))
			if math.IsNaN(want) {
				assert.True(t, x[i] != x[i] && slope[i] != slope[i], "%v: %v", p, v)
				continue
			}
			assert.InDelta(t, want, float64(x[i])/float64(c), tolerance*math.Abs(want), "%v: %v", p, v)
			assert.Equal(t, math.Signbit(want), math.Signbit(float64(x[i])), "%v: %v", p, v)
			assert.InDelta(t, 1-want*want, float64(slope[i]), 2*tolerance, "%v: %v", p, v)
		}
	}
}

// TestAttentionNaN puts a NaN everywhere in turn: it reaches the outputs of the rows concerned, and no others.
func TestAttentionNaN(t *testing.T) {
	nan := float32(math.NaN())
	for _, path := range paths() {
		t.Run(path.String(), func(t *testing.T) {
			onPath(t, path)
			for _, bad := range []int{0, 1, 63, 64, 100, 149} {
				for _, which := range []string{"q", "k", "v"} {
					p := newAttentionProblem[float32](Attention{B: 1, H: 1, K: 1, T: 150, S: 150, D: 3, DV: 2, Visible: func(_, t int) (int, int) { return t - 40, t + 1 }}, false)
					map[string][]float32{"q": p.in.Q, "k": p.in.K, "v": p.in.V}[which][bad*map[string]int{"q": 3, "k": 3, "v": 2}[which]] = nan
					p.run()
					for row := range 150 {
						concerned := row == bad || which != "q" && row-40 <= bad && bad <= row
						isNaN := p.out[row*2] != p.out[row*2]
						assert.Equal(t, concerned, isNaN, "%s %d: row %d", which, bad, row)
						if which != "v" {
							assert.Equal(t, concerned, p.lse[row] != p.lse[row], "%s %d: lse %d", which, bad, row)
						}
						if concerned {
							assert.True(t, p.grad.Q[row*3] != p.grad.Q[row*3], "%s %d: dq %d", which, bad, row)
						}
					}
				}
			}
		})
	}
}

func TestAttentionEmpty(t *testing.T) {
	for _, a := range []Attention{
		{B: 0, H: 2, K: 1, T: 3, S: 4, D: 5, DV: 6}, {B: 1, H: 0, K: 1, T: 3, S: 4, D: 5, DV: 6}, {B: 1, H: 2, K: 1, T: 0, S: 4, D: 5, DV: 6},
		{B: 1, H: 2, K: 1, T: 3, S: 0, D: 5, DV: 6}, {B: 1, H: 2, K: 1, T: 3, S: 4, D: 0, DV: 6}, {B: 1, H: 2, K: 1, T: 3, S: 4, D: 5, DV: 0},
	} {
		p := newAttentionProblem[float64](a, true)
		p.a.Scale = 1
		p.run()
		p.verify(t)
	}
}

func TestAttentionPanicsBeforeItWrites(t *testing.T) {
	ok := Attention{B: 2, H: 4, K: 2, T: 3, S: 5, D: 6, DV: 7}
	for _, row := range []struct {
		want   string
		change func(p *attentionProblem[float64])
	}{
		{"kernel: attention: negative dimension", func(p *attentionProblem[float64]) { p.a.S = -1 }},
		{"kernel: attention: the key/value heads do not divide the query heads", func(p *attentionProblem[float64]) { p.a.K = 3 }},
		{"kernel: attention: the key/value heads do not divide the query heads", func(p *attentionProblem[float64]) { p.a.K = 0 }},
		{"kernel: attention: softcap or dropout outside its range", func(p *attentionProblem[float64]) { p.a.Softcap = math.NaN() }},
		{"kernel: attention: softcap or dropout outside its range", func(p *attentionProblem[float64]) { p.a.Dropout.P = 1 }},
		{"kernel: attention: q: slice is too short", func(p *attentionProblem[float64]) { p.in.Q = p.in.Q[1:] }},
		{"kernel: attention: k: slice is too short", func(p *attentionProblem[float64]) { p.in.K = p.in.K[1:] }},
		{"kernel: attention: v: slice is too short", func(p *attentionProblem[float64]) { p.in.V = p.in.V[1:] }},
		{"kernel: attention: v: negative stride", func(p *attentionProblem[float64]) { p.a.ValueAt.Row = -1 }},
		{"kernel: attention: k: slice is too short", func(p *attentionProblem[float64]) { p.a.KeyAt.Head = math.MaxInt }},
		{"kernel: attention: bias: slice is too short", func(p *attentionProblem[float64]) { p.in.Bias = p.in.Bias[1:] }},
		{"kernel: attention: relative bias: slice is too short", func(p *attentionProblem[float64]) { p.in.Relative = p.in.Relative[1:] }},
		{"kernel: attention: relative bias: slice is too short", func(p *attentionProblem[float64]) { p.a.RelativeAt.Zero-- }},
		{"kernel: attention: sinks: slice is too short", func(p *attentionProblem[float64]) { p.in.Sinks = p.in.Sinks[1:] }},
		{"kernel: attention: out: slice is too short", func(p *attentionProblem[float64]) { p.out = p.out[1:] }},
		{"kernel: attention: lse: slice is too short", func(p *attentionProblem[float64]) { p.lse = p.lse[:23] }},
	} {
		p := newAttentionProblem[float64](ok, true)
		row.change(p)
		assert.PanicsWithValue(t, row.want, func() { AttentionForward(p.a, p.out, p.lse, p.in) })
		assert.PanicsWithValue(t, row.want, func() { AttentionBackward(p.a, p.grad, p.dout, p.out, p.lse, p.in) })
		for _, v := range append(append(p.out, p.grad.Q...), p.lse...) {
			assert.NotEqual(t, v, v)
		}
	}
	for _, row := range []struct {
		want   string
		change func(p *attentionProblem[float64])
	}{
		{"kernel: attention: dout: slice is too short", func(p *attentionProblem[float64]) { p.dout = nil }},
		{"kernel: attention: q gradient: slice is too short", func(p *attentionProblem[float64]) { p.grad.Q = p.grad.Q[1:] }},
		{"kernel: attention: k gradient: slice is too short", func(p *attentionProblem[float64]) { p.grad.K = p.grad.K[1:] }},
		{"kernel: attention: v gradient: slice is too short", func(p *attentionProblem[float64]) { p.grad.V = p.grad.V[1:] }},
		{"kernel: attention: bias gradient: slice is too short", func(p *attentionProblem[float64]) { p.grad.Bias = p.grad.Bias[1:] }},
		{"kernel: attention: relative bias gradient: slice is too short", func(p *attentionProblem[float64]) { p.grad.Relative = p.grad.Relative[1:] }},
		{"kernel: attention: sinks gradient: slice is too short", func(p *attentionProblem[float64]) { p.grad.Sinks = p.grad.Sinks[1:] }},
	} {
		p := newAttentionProblem[float64](ok, true)
		row.change(p)
		assert.PanicsWithValue(t, row.want, func() { AttentionBackward(p.a, p.grad, p.dout, p.out, p.lse, p.in) })
	}
}

// TestAttentionRuleThatPanics sees that nobody waits for a task that failed.
func TestAttentionRuleThatPanics(t *testing.T) {
	setProcs(t, 4)
	p := newAttentionProblem[float32](Attention{B: 1, H: 2, K: 2, T: 640, S: 640, D: 16, DV: 16}, false)
	p.run()
	for at := range 10 {
		var calls atomic.Int64
		p.a.Shown = func(b, h, t, s0 int, shown []bool) bool {
			if calls.Add(1) > int64(at*300) {
				panic("the rule failed")
			}
			return false
		}
		assert.PanicsWithValue(t, "the rule failed", func() { AttentionBackward(p.a, p.grad, p.dout, p.out, p.lse, p.in) })
	}
	p.a.Shown = nil
	p.run()
	p.verify(t)
}

func TestAttentionAllocatesNothing(t *testing.T) {
	if raceEnabled {
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

// TestAttentionTilesAreBounded sees that the memory of a worker does not grow with T and S.
func TestAttentionTilesAreBounded(t *testing.T) {
	p := newAttentionProblem[float32](Attention{B: 1, H: 1, K: 1, T: 5000, S: 5000, D: 16, DV: 16, Visible: func(_, t int) (int, int) { return t - 9, t + 1 }}, false)
	p.run()
	for range 8 {
		w := attentionTilePool[float32]().Get().(*attentionTiles[float32])
		assert.LessOrEqual(t, len(w.memory), 1<<16)
	}
}

// expErrors is the largest error of e^x in units of the last place over numbers from 0 down to where results
// are no longer normal.
func expErrors[F Float](p path, least float64, bits int) float64 {
	const n = 64
	worst := 0.
	for i := range 60 {
		var x, shift, sum, want [n]F
		for j := range x {
			x[j] = F(least * float64(i*n+j) / (60 * n) * (1 - 1e-3*float64(j%7)))
			want[j] = x[j]
		}
		expColumns(p, 1, n, x[:], n, shift[:], sum[:])
		for j, got := range x {
			exact := bigExp(float64(want[j]))
			unit := math.Ldexp(1, exact.MantExp(nil)-bits)
			diff := new(big.Float).Sub(big.NewFloat(float64(got)), exact)
			e, _ := diff.Float64()
			worst = max(worst, math.Abs(e)/unit)
			if sum[j] != got {
				return math.Inf(1)
			}
		}
	}
	return worst
}

// bigExp sums the series of e^(x/2¹⁰) and squares it ten times.
func bigExp(x float64) *big.Float {
	small := new(big.Float).SetPrec(200).SetMantExp(new(big.Float).SetPrec(200).SetFloat64(x), -10)
	sum, term := new(big.Float).SetPrec(200).SetInt64(1), new(big.Float).SetPrec(200).SetInt64(1)
	for i := int64(1); i < 40; i++ {
		term.Mul(term, small)
		term.Quo(term, new(big.Float).SetInt64(i))
		sum.Add(sum, term)
	}
	for range 10 {
		sum.Mul(sum, sum)
	}
	return sum
}

func TestAttentionExp(t *testing.T) {
	for _, p := range paths() {
		single, double := expErrors[float32](p, -87.3, 24), expErrors[float64](p, -708.3, 53)
		t.Logf("%v: %.3f and %.3f units", p, single, double)
		// math.Exp, which plain Go uses for float64, errs by more than the polynomials do.
		assert.LessOrEqual(t, single, 1., "%v", p)
		assert.LessOrEqual(t, double, map[bool]float64{true: 2, false: 1}[p == pathGo], "%v", p)
		for _, row := range []struct{ x, want float64 }{
			{0, 1}, {math.Inf(-1), 0}, {-1e30, 0}, {-800, 0}, {math.NaN(), math.NaN()},
		} {
			testExpOf[float32](t, p, row.x, row.want)
			testExpOf[float64](t, p, row.x, row.want)
		}
	}
}

func testExpOf[F Float](t *testing.T, p path, x, want float64) {
	var v, shift, sum [16]F
	for i := range v {
		v[i] = F(x)
	}
	expColumns(p, 1, 16, v[:], 16, shift[:], sum[:])
	for _, got := range v {
		if math.IsNaN(want) {
			assert.True(t, got != got, "%v: exp(%v)", p, x)
		} else {
			assert.Equal(t, F(want), got, "%v: exp(%v)", p, x)
		}
	}
}

// TestAttentionSkipsHiddenTiles puts NaN where Shown hides a whole tile: nothing of it may be computed with.
func TestAttentionSkipsHiddenTiles(t *testing.T) {
	hidden := func(s int) bool { return s/keyBlock == 1 }
	p := newAttentionProblem[float64](Attention{B: 1, H: 2, K: 1, T: 130, S: 3 * keyBlock, D: 3, DV: 2,
		Shown: func(_, _, _, s0 int, shown []bool) bool {
			for j := range shown {
				shown[j] = !hidden(s0 + j)
			}
			return true
		}}, true)
	for s := range p.a.S {
		if hidden(s) {
			p.in.K[s*3], p.in.V[s*2] = math.NaN(), math.NaN()
		}
	}
	p.run()
	for name, x := range map[string][]float64{"out": p.out, "dq": p.grad.Q, "dk": p.grad.K, "dv": p.grad.V, "dbias": p.grad.Bias} {
		assert.True(t, finite(x), name)
	}
}
