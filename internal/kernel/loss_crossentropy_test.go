package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"attention/internal/simd"

	"github.com/stretchr/testify/require"
)

// totalLoss returns the sum of the losses of all rows.
func totalLoss[F Float](x []F, targets []int64, cols int, ignore int64) float64 {
	return SumCrossEntropy(x, Targets[F]{IDs: targets, Cols: cols, Ignore: []int64{ignore}})
}

// testCrossEntropy compares with −log softmax(x)[target] and its gradient in float64. A sum of cols exponentials has an
// error of at most cols roundings; x itself, of size spread, is rounded once.
func testCrossEntropy[F Float](t *testing.T, eps float64) {
	r := rand.New(rand.NewPCG(41, 1))
	for _, s := range rowShapes {
		rows, cols := s[0], s[1]
		for _, spread := range []float64{1, 30, 1e4} {
			x, dx := randomRows[F](r, rows*cols, spread), make([]F, rows*cols)
			targets := make([]int64, rows)
			for i := range targets {
				targets[i] = int64(r.IntN(cols+1)) - 1 // −1 is ignored
			}
			CrossEntropyBackward(dx, x, Targets[F]{IDs: targets, Cols: cols, Ignore: []int64{-1}}, []F{1.4}, 2)
			total, abs := 0.0, 0.0
			for i, target := range targets {
				row := x[i*cols:][:cols]
				y := plainSoftmax(row)
				for j := range y {
					want := 0.7 * y[j]
					if j == int(target) {
						want -= 0.7
					}
					if target < 0 {
						want = 0
					}
					got, tol := float64(dx[i*cols+j]), eps*float64(cols+8+int(2*spread))
					require.InDelta(t, want, got, tol, "%v, row %d, column %d", s, i, j)
				}
				if target >= 0 {
					top, sum := math.Inf(-1), 0.0
					for _, v := range row {
						top = max(top, float64(v))
					}
					for _, v := range row {
						sum += math.Exp(float64(v) - top)
					}
					total += top + math.Log(sum) - float64(row[target])
					abs += math.Abs(top) + 1
				}
			}
			require.InDelta(t, total, totalLoss(x, targets, cols, -1), eps*abs*float64(cols+8), "%v", s)
		}
	}
}

func TestCrossEntropyEqualsItsFormula(t *testing.T) {
	for _, p := range paths() {
		onPath(t, p)
		testCrossEntropy[float32](t, 0x1p-24)
		testCrossEntropy[float64](t, 0x1p-53)
	}
}

func TestCrossEntropyOfSpecialRows(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, p := range paths() {
		onPath(t, p)
		for _, c := range []struct {
			x    []float64
			loss string
		}{
			{x: []float64{-inf, 5, -inf}, loss: "finite"},
			{x: []float64{5, -inf, -inf}, loss: "+Inf"}, // the target is impossible
			{x: []float64{-inf, -inf, -inf}, loss: "NaN"},
			{x: []float64{nan, 0, 0}, loss: "NaN"},
			{x: []float64{0, 0, nan}, loss: "NaN"},
			{x: []float64{0, inf, 0}, loss: "NaN"},
		} {
			dx := make([]float64, 6)
			x := append(c.x, 0, 0, 0) // a row next to it, which must not be read
			require.Equal(t, c.loss, kind(totalLoss(x, []int64{1, -100}, 3, -100)), "%v: %v", p, c.x)
			CrossEntropyBackward(dx, x, Targets[float64]{IDs: []int64{1, 2}, Cols: 3, Ignore: []int64{-100}}, []float64{1}, 1)
			require.InDelta(t, 1.0/3, dx[3], 1e-15)
			for _, v := range dx[:3] {
				require.Equal(t, c.loss == "NaN", v != v, "%v: %v: %v", p, c.x, dx)
			}
			CrossEntropyBackward(dx, x, Targets[float64]{IDs: []int64{-100, 2}, Cols: 3, Ignore: []int64{-100}}, []float64{1}, 1)
			require.Equal(t, []float64{0, 0, 0}, dx[:3], "an ignored row")
		}
	}
}

// rowLogSumExp returns the log Σexp of a row as CrossEntropy computes it.
func rowLogSumExp[F Float](x []F) float64 {
	var top, sum [1]F
	simd.SumExpRows(1, len(x), x, top[:], sum[:])
	return logSumExp(x, top[0], sum[0])
}

func TestLogSumExp(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{x: []float64{0}, want: 0},
		{x: []float64{0, 0}, want: math.Ln2},
		{x: []float64{1, 2, 3}, want: math.Log(math.E + math.E*math.E + math.E*math.E*math.E)},
		{x: []float64{1e4, 1e4}, want: 1e4 + math.Ln2},
		{x: []float64{-1e4, -1e4}, want: -1e4 + math.Ln2},
		{x: []float64{-inf, 5}, want: 5},
		{x: []float64{-inf, -inf}, want: -inf},
		{x: []float64{inf, 0}, want: inf},
		{x: []float64{nan, 0}, want: nan},
		{x: []float64{0, nan, -inf}, want: nan},
	} {
		got := rowLogSumExp(c.x)
		if math.IsNaN(c.want) || math.IsInf(c.want, 0) {
			require.Equal(t, math.Float64bits(c.want)&^(1<<51-1), math.Float64bits(got)&^(1<<51-1), "%v: got %v", c.x, got)
			continue
		}
		require.InEpsilon(t, c.want+1, got+1, 1e-15, "%v", c.x)
	}
}
