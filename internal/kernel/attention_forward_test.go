package kernel

import (
	"math"
	"testing"

	"attention/internal/simd"

	"github.com/stretchr/testify/assert"
)

func TestAttentionHiddenRows(t *testing.T) {
	// In batch 0 no query sees anything, in batch 1 every third query does not; no query sees the keys from 140 on.
	p := newAttentionProblem[float32](Attention{
		B: 2, H: 2, K: 1, T: 200, S: 150, D: 8, DV: 8,
		Visible: func(b, t int) (int, int) { return 3, 140 * b * min(t%3, 1) },
	}, false)
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
	assert.Equal(t, simd.NegInf[float32](), p.lse[0])
	p.verify(t)
}

// TestAttentionHiddenByBias hides every key of some rows by a bias of −∞, of which the rule knows nothing.
func TestAttentionHiddenByBias(t *testing.T) {
	p := newAttentionProblem[float64](Attention{B: 1, H: 2, K: 2, T: 70, S: 90, D: 5, DV: 3, Softcap: 3}, true)
	for i := range p.in.Bias {
		if row := i / 90; row%4 == 1 {
			p.in.Bias[i] = simd.NegInf[float64]()
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

// TestAttentionHugeScores uses scores whose exponentials would overflow by far.
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
				// dP and Σ dOut⊙Out are the same sum up to rounding.
				assert.InDelta(t, 0, v, 4*0x1p-23*size)
			}
		}
	}
}

// TestAttentionGrowingScores raises the maximum from tile to tile, a little and a lot.
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

// TestAttentionNaN puts a NaN everywhere in turn: it reaches the queries that see it, their gradients and those of the
// keys that they see, and no others, whichever rule hides keys.
func TestAttentionNaN(t *testing.T) {
	for _, path := range paths() {
		if slowGo(path) {
			continue
		}
		t.Run(path.String(), func(t *testing.T) {
			onPath(t, path)
			for _, which := range []string{"q", "k", "v", "bias", "dout"} {
				for _, bad := range nanRows() {
					for _, rule := range []string{"visible", "shown"} {
						testNaN[float32](t, which, bad, rule, Full)
						testNaN[float32](t, which, bad, rule, BFloat16)
						testNaN[float64](t, which, bad, rule, Full)
					}
				}
			}
		})
	}
}

// nanRows returns the rows in which a NaN is put, one at a time. With -short it returns only those next to the borders
// of blocks.
func nanRows() []int {
	if testing.Short() {
		return []int{0, 100}
	}
	return []int{0, 1, 63, 64, 100, 149}
}

// testNaN puts a NaN into row bad of an argument, or into the bias of key bad for query bad. A query sees 41 keys up to
// its own, except its own key if its number is a multiple of 50.
func testNaN[F Float](t *testing.T, which string, bad int, rule string, precision Precision) {
	const n = 150
	a := Attention{B: 1, H: 1, K: 1, T: n, S: n, D: 3, DV: 2, Softcap: 30, Precision: precision}
	sees := func(t, s int) bool { return t-40 <= s && s <= t && (s < t || t%50 > 0) }
	a.Visible = func(_, t int) (int, int) {
		if t%50 == 0 {
			return t - 40, t
		}
		return t - 40, t + 1
	}
	if rule == "shown" {
		a.Visible = nil
		a.Shown = func(_, _, t, s0 int, shown []bool) bool {
			for i := range shown {
				shown[i] = sees(t, s0+i)
			}
			return true
		}
	}
	p := newAttentionProblem[F](a, false)
	p.in.Bias, p.grad.Bias = make([]F, n*n), make([]F, n*n)
	p.a.BiasAt = BiasLayout{Query: n, Key: 1}
	nan := F(math.NaN())
	to, at := p.in.Bias, bad*n+bad
	switch which {
	case "q":
		to, at = p.in.Q, bad*a.D
	case "k":
		to, at = p.in.K, bad*a.D
	case "v":
		to, at = p.in.V, bad*a.DV
	case "dout":
		to, at = p.dout, bad*a.DV
	}
	to[at] = nan
	p.run()
	var rows, keys, values [n]bool // the gradients of these are NaN
	for query := range n {
		switch which {
		case "q", "dout":
			rows[query] = query == bad && query > 0
		case "bias":
			rows[query] = query == bad && sees(bad, bad)
		default:
			rows[query] = sees(query, bad)
		}
		for key := range n {
			keys[key] = keys[key] || rows[query] && sees(query, key)
		}
	}
	if which != "v" {
		values = keys
	}
	check := func(name string, got F, want bool, row int) {
		if want != (got != got) { // assert.Equal would take a minute for all elements
			t.Errorf("%s of row %d, with NaN in %s of row %d, by %s, %v: got %v", name, row, which, bad, rule, precision, got)
		}
	}
	for i := range n {
		check("out", p.out[i*a.DV], rows[i] && which != "dout", i)
		check("lse", p.lse[i], rows[i] && which != "dout" && which != "v", i)
		check("dq", p.grad.Q[i*a.D], rows[i], i)
		check("dk", p.grad.K[i*a.D], keys[i], i)
		check("dv", p.grad.V[i*a.DV], values[i], i)
		for j := range n {
			check("dbias", p.grad.Bias[i*n+j], rows[i] && sees(i, j), i)
		}
	}
}

// TestAttentionSkipsHiddenTiles puts NaN into tiles that Shown hides completely: no computation may read them.
func TestAttentionSkipsHiddenTiles(t *testing.T) {
	hidden := func(s int) bool { return s/keyBlock == 1 }
	p := newAttentionProblem[float64](Attention{
		B: 1, H: 2, K: 1, T: 130, S: 3 * keyBlock, D: 3, DV: 2,
		Shown: func(_, _, _, s0 int, shown []bool) bool {
			for j := range shown {
				shown[j] = !hidden(s0 + j)
			}
			return true
		},
	}, true)
	for s := range p.a.S {
		if hidden(s) {
			p.in.K[s*3], p.in.V[s*2] = math.NaN(), math.NaN()
		}
	}
	p.run()
	for name, x := range map[string][]float64{
		"out": p.out, "dq": p.grad.Q, "dk": p.grad.K, "dv": p.grad.V, "dbias": p.grad.Bias,
	} {
		assert.True(t, finite(x), name)
	}
}

func finite[F Float](x []F) bool {
	for _, v := range x {
		if v-v != 0 {
			return false
		}
	}
	return true
}

// TestAttentionHiddenNaNLeavesTheBits puts NaN into a hidden key and its value: all results keep their bits, also with
// one query or with values of one number, whose products have one column.
func TestAttentionHiddenNaNLeavesTheBits(t *testing.T) {
	const hidden = 30
	for _, a := range []Attention{
		{T: 1, D: 1, DV: 1}, {T: 1, D: 1, DV: 2}, {T: 1, D: 3, DV: 1}, {T: 2, D: 1, DV: 1}, {T: 9, D: 1, DV: 1},
	} {
		a.B, a.H, a.K, a.S = 1, 2, 2, 60
		a.Shown = func(_, _, _, s0 int, shown []bool) bool {
			for j := range shown {
				shown[j] = s0+j != hidden
			}
			return true
		}
		clean := newAttentionProblem[float64](a, false)
		clean.run()
		p := newAttentionProblem[float64](a, false)
		for h := range 2 {
			p.in.K[(hidden*2+h)*a.D], p.in.V[(hidden*2+h)*a.DV] = math.NaN(), math.NaN()
		}
		p.run()
		assert.Equal(t, clean.out, p.out, "out, T %d, D %d, DV %d", a.T, a.D, a.DV)
		assert.Equal(t, clean.grad, p.grad, "gradients, T %d, D %d, DV %d", a.T, a.D, a.DV)
	}
}
