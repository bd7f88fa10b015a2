package kernel

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"attention/internal/simd"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// watch computes the statistics, in slices of exactly their length.
func (p *attentionProblem[F]) watch(offset int) RowStatistics[F] {
	n := p.a.B * p.a.H * p.a.T
	var s [8][]F
	for i := range s {
		s[i] = make([]F, n)
		for j := range s[i] {
			s[i][j] = p.guard
		}
	}
	stats := RowStatistics[F]{s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], offset}
	p.watchedCall(stats).Forward()
	return stats
}

func TestAttentionStatisticsAgainstNaive(t *testing.T) {
	onPaths(t, testStatistics[float32], testStatistics[float64])
}

func testStatistics[F Float](t *testing.T, _ simd.Set) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawProblem[F](t)
		x.call().Forward()
		out, lse := slices.Clone(x.out), slices.Clone(x.lse)
		offset := rapid.IntRange(-3, 3).Draw(t, "offset")
		stats := x.watch(offset)
		requireBits(t, out, x.out)
		requireBits(t, lse, x.lse)
		n := newNaive(x.a, x.in)
		tol := x.tolerance(n)
		for row := range n.lse {
			x.closeRow(t, n, &stats, row, tol)
		}
	})
}

func requireBits[F Float](t require.TestingT, want, got []F) {
	for i, v := range want {
		if got[i] != v && (v == v || got[i] == got[i]) {
			require.Failf(t, "other bits", "element %d: got %v, want %v", i, got[i], v)
		}
	}
}

// closeRow compares the statistics of one row with those of the weights of the reference.
func (p *attentionProblem[F]) closeRow(t require.TestingT, n *naive, stats *RowStatistics[F], row int, tol float64) {
	a := p.a
	weights := n.p[row*a.S:][:a.S]
	if a.Sigmoid && !math.IsInf(n.lse[row], -1) { // weights divided by their sum
		weights = slices.Clone(weights)
		for s := range weights {
			weights[s] /= math.Exp(n.lse[row])
		}
	}
	score, product := n.largest(row)
	entropy, share, distance, own := 0., 1., 0., row%a.T+stats.Offset
	for s, w := range weights {
		share -= w
		distance += w * math.Abs(float64(own-s))
		if w > 0 {
			entropy -= w * math.Log(w)
		}
	}
	if n.sinks == nil || math.IsInf(n.lse[row], -1) {
		share = 0
	}
	weight := func(s int) float64 {
		if s < 0 || s >= a.S-a.Unbiased {
			return 0
		}
		return weights[s]
	}
	for _, x := range []struct {
		name      string
		got       F
		want, abs float64
	}{
		{"largest score", stats.MaxScore[row], score, 1 + math.Abs(score)},
		{"largest product", stats.MaxProduct[row], product, 1 + math.Abs(product)},
		{"entropy", stats.Entropy[row], entropy, 2 + math.Log(float64(a.S))},
		{"first", stats.First[row], weight(0), weight(0)},
		{"own", stats.Own[row], weight(own), weight(own)},
		{"previous", stats.Previous[row], weight(own - 1), weight(own - 1)},
		{"sink", stats.Sink[row], share, 1},
		{"distance", stats.Distance[row], distance, distance},
	} {
		p.equal(t, fmt.Sprintf("%s of row %d", x.name, row), x.got, x.want, tol*x.abs)
	}
}

// largest returns a row's largest score and product.
func (n *naive) largest(row int) (score, product float64) {
	a := n.a
	b, h, t := row/a.T/a.H, row/a.T%a.H, row%a.T
	key := (b*a.K + h/(a.H/a.K)) * a.S
	score, product = math.Inf(-1), math.Inf(-1)
	for s := range a.S {
		if !a.sees(b, h, t, s) {
			continue
		}
		x, _ := dotAbs(n.q[row*a.D:][:a.D], n.k[(key+s)*a.D:])
		x *= a.Scale
		product = max(product, x)
		if a.Softcap > 0 {
			x = a.Softcap * math.Tanh(x/a.Softcap)
		}
		if a.Score != nil && s < a.biased() {
			x = a.Score(x, b, h, t, s)
		}
		score = max(score, x+n.bias[row*a.S+s]+a.SigmoidBias)
	}
	return score, product
}

// sees reports whether a query sees a key.
func (a *Attention) sees(b, h, t, s int) bool {
	if lo, hi := a.keys(b, t); s < lo || s >= hi {
		return false
	}
	shown := []bool{true}
	return a.Shown == nil || !a.Shown(b, h, t, s, shown) || shown[0]
}

func TestAttentionWeightsAgainstNaive(t *testing.T) {
	onPaths(t, testWeights[float32], testWeights[float64])
}

func testWeights[F Float](t *testing.T, _ simd.Set) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawProblem[F](t)
		a := x.a
		x.call().Forward()
		n := newNaive(a, x.in)
		tol := x.tolerance(n)
		size := rapid.SampledFrom([]int{1, 3, 8, 64, 100, 1 << 40})
		x.closeLargest(t, n, Cells{CellsOf(a.T, size.Draw(t, "height")), CellsOf(a.S, size.Draw(t, "width"))}, tol)
		x.closeLargest(t, n, Cells{EvenCells(a.T, rapid.IntRange(1, a.T).Draw(t, "rows")),
			EvenCells(a.S, rapid.IntRange(1, a.S).Draw(t, "columns"))}, tol)
	})
}

// closeLargest compares the largest weights of cells.
func (p *attentionProblem[F]) closeLargest(t require.TestingT, n *naive, cells Cells, tol float64) {
	a := p.a
	rows, columns := len(cells.Queries)-1, len(cells.Keys)-1
	largest := make([]F, a.B*a.H*rows*columns)
	p.call().Largest(largest, cells)
	for i := range largest {
		head, r, c := i/columns/rows, i/columns%rows, i%columns
		most := 0.
		for q := cells.Queries[r]; q < cells.Queries[r+1]; q++ {
			for s := cells.Keys[c]; s < cells.Keys[c+1]; s++ {
				most = max(most, n.p[(head*a.T+q)*a.S+s])
			}
		}
		p.equal(t, fmt.Sprintf("largest %d", i), largest[i], most, tol*most)
	}
}

// TestAttentionStatisticsOfHiddenRows uses rows that see nothing, with and without sinks, and rows with only scores of
// −∞.
func TestAttentionStatisticsOfHiddenRows(t *testing.T) {
	for _, sinks := range []bool{false, true} {
		p := newAttentionProblem[float32](Attention{B: 1, H: 2, K: 2, T: 70, S: 90, D: 5, DV: 3,
			Visible: func(_, t int) (int, int) { return 0, 90 * (t % 2) }}, true)
		share := float32(1)
		if !sinks {
			p.in.Sinks, share = nil, 0
		}
		for i := range p.in.Bias {
			if row := i / 90; row%4 == 1 {
				p.in.Bias[i] = simd.NegInf[float32]()
			}
		}
		stats := p.watch(0)
		for row := range 2 * 70 {
			if row%70%2 == 1 && row%4 != 1 {
				assert.Greater(t, stats.Entropy[row], float32(0))
				continue
			}
			assert.Equal(t, simd.NegInf[float32](), stats.MaxScore[row])
			if row%70%2 == 0 {
				assert.Equal(t, simd.NegInf[float32](), stats.MaxProduct[row])
			}
			for _, x := range [][]float32{stats.Entropy, stats.First, stats.Own, stats.Previous, stats.Distance} {
				assert.Zero(t, x[row])
			}
			assert.Equal(t, share, stats.Sink[row])
		}
	}
}

// TestAttentionStatisticsOfHugeScores uses scores whose exponentials would overflow by far: one key has all the weight.
func TestAttentionStatisticsOfHugeScores(t *testing.T) {
	for _, size := range []float32{1e4, 1e30} {
		p := newAttentionProblem[float32](Attention{B: 1, H: 1, K: 1, T: 3, S: 100, D: 2, DV: 2}, false)
		p.a.Scale = 1
		for i := range p.in.Q {
			p.in.Q[i] = 1
		}
		for s := range 100 {
			p.in.K[2*s], p.in.K[2*s+1] = -size, 0
		}
		p.in.K[2*37] = size
		stats := p.watch(36)
		weights := make([]float32, 300)
		p.call().Largest(weights, Cells{CellsOf(3, 1), CellsOf(100, 1)})
		for row := range 3 {
			assert.Equal(t, size, stats.MaxScore[row])
			assert.Zero(t, stats.Entropy[row])
			assert.Equal(t, float32(row%2*(2-row)), stats.Own[row], "key 36, 37, 38")
		}
		for i, weight := range weights {
			want := float32(0)
			if i%100 == 37 {
				want = 1
			}
			assert.Equal(t, want, weight, "row %d, key %d", i/100, i%100)
		}
	}
}

// TestAttentionStatisticsOfRisingScores uses scores that rise from one block of keys to the next, so that the running
// statistics are scaled repeatedly, down to 0.
func TestAttentionStatisticsOfRisingScores(t *testing.T) {
	onPaths(t, testRisingScores[float32], testRisingScores[float64])
}

func testRisingScores[F Float](t *testing.T, _ simd.Set) {
	const size = 2*keyBlock + 40
	for _, rise := range []float64{9, 12, 60, 1e4, 3e38} {
		p := newAttentionProblem[F](Attention{B: 1, H: 1, K: 1, T: size, S: size, D: 1, DV: 1}, false)
		p.in.Sinks = []F{1}
		for s := range size {
			p.in.Q[s], p.in.K[s] = 1, F(rise*float64(s/keyBlock-1))+F(s%7)/8
		}
		stats := p.watch(0)
		n := newNaive(p.a, p.in)
		for row := range size {
			p.closeRow(t, n, &stats, row, p.tolerance(n))
		}
	}
}

// TestAttentionStatisticsOfNaN puts a NaN into a row: its statistics are NaN, and no others. There is no sink.
func TestAttentionStatisticsOfNaN(t *testing.T) {
	p := newAttentionProblem[float64](Attention{B: 1, H: 1, K: 1, T: 70, S: 70, D: 2, DV: 2,
		Visible: func(_, t int) (int, int) { return 0, t + 1 }}, false)
	p.in.Q[2*66] = math.NaN()
	stats := p.watch(0)
	for i, x := range stats.slices() {
		for row, v := range x {
			assert.Equal(t, row == 66 && i != 6, math.IsNaN(v), "statistic %d of row %d", i, row)
		}
	}
}

func TestMomentColumns(t *testing.T) {
	onPaths(t, testMoment[float32], testMoment[float64])
}

// testMoment compares with plain Go, and with expColumns to the bit.
func testMoment[F Float](t *testing.T, p simd.Set) {
	const rows, ld = 5, 64
	inf := math.Inf(1)
	special := []F{0, 1, -1, 8, -20, -86, -88, -104, F(-inf), -700, -760, 3, 2.5, -1e30}
	for n := 1; n <= ld; n += 9 {
		var x [rows * ld]F
		for i := range x {
			x[i] = special[i*7%len(special)]
		}
		y, z := x, x
		var shift, sum, sumY, moment, sumZ, momentZ [ld]F
		for i := range shift {
			shift[i] = F(i%3) / 2
			moment[i], momentZ[i] = 1, 1
		}
		simd.MomentColumns(rows, n, x[:], ld, shift[:], sum[:], moment[:])
		simd.ExpColumns(rows, n, y[:], ld, shift[:], sumY[:])
		inGo(func() any {
			simd.MomentColumns(rows, n, z[:], ld, shift[:], sumZ[:], momentZ[:])
			return nil
		})
		for i := range rows {
			requireBits(t, y[i*ld:][:n], x[i*ld:][:n])
		}
		requireBits(t, sumY[:n], sum[:n])
		for j := range n {
			assert.InEpsilon(t, momentZ[j], moment[j], 1e-5, "column %d of %d", j, n)
		}
	}
}

// TestAttentionStatisticsOnAnyCores: the bits do not depend on the number of goroutines.
func TestAttentionStatisticsOnAnyCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var want [][]float32
	for _, cores := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(cores)
		p := newAttentionProblem[float32](Attention{B: 2, H: 4, K: 2, T: 300, S: 300, D: 16, DV: 16}, true)
		stats := p.watch(0)
		largest := make([]float32, 8*5*43)
		p.call().Largest(largest, Cells{CellsOf(300, 70), CellsOf(300, 7)})
		all := stats.slices()
		got := append(all[:], largest)
		if want == nil {
			want = got
		}
		for i := range want {
			requireBits(t, want[i], got[i])
		}
	}
}

func TestAttentionWeightsPanic(t *testing.T) {
	p := newAttentionProblem[float64](Attention{B: 2, H: 4, K: 2, T: 3, S: 5, D: 6, DV: 7}, true)
	stats := p.watch(0)
	short := stats
	short.Own = short.Own[1:]
	enough := make([]float64, 1000)
	largest := func(out []float64, rows []int) {
		p.call().Largest(out, Cells{rows, CellsOf(5, 5)})
	}
	for want, call := range map[string]func(){
		"statistics: slice is too short": p.watchedCall(short).Forward,
		"largest: empty cells":           func() { largest(enough, []int{0, 2, 2, 3}) },
		"largest: slice is too short":    func() { largest(enough[:15], CellsOf(3, 2)) },

		"largest: cells do not cover the queries": func() { largest(enough, []int{0, 2}) },
		"lse: slice is too short": func() {
			c := p.call()
			c.LSE = p.lse[:71]
			c.Largest(enough, Cells{CellsOf(3, 2), CellsOf(5, 5)})
		},
	} {
		assert.PanicsWithValue(t, "kernel: attention: "+want, call)
	}
}
