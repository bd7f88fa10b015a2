package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
)

// rowShapes are rows and columns: none, one, odd numbers, and enough rows to be
// divided among goroutines.
var rowShapes = [][2]int{{0, 3}, {1, 1}, {7, 1}, {1, 7}, {3, 5}, {17, 64}, {5, 1031}, {4099, 5}, {257, 129}}

func randomRows[F Float](r *rand.Rand, n int, spread float64) []F {
	x := make([]F, n)
	for i := range x {
		x[i] = F(r.NormFloat64() * spread)
	}
	return x
}

// plainSoftmax is a row's softmax in float64, the maximum taken out first.
func plainSoftmax[F Float](x []F) []float64 {
	top, sum := math.Inf(-1), 0.0
	for _, v := range x {
		top = max(top, float64(v))
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = math.Exp(float64(v) - top)
		sum += y[i]
	}
	for i := range y {
		y[i] /= sum
	}
	return y
}

// testSoftmax compares with plain rows. The sum of n positive terms, each rounded once, has a relative error of at most
// n roundings, and the quotient the same again; a rounding error of x − max is multiplied by its size in the
// exponential.
func testSoftmax[F Float](t *testing.T, eps float64) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range rowShapes {
		rows, cols := s[0], s[1]
		for _, spread := range []float64{1, 30, 1e4} {
			x := randomRows[F](r, rows*cols, spread)
			y := randomRows[F](r, rows*cols, 1)
			Softmax(y, x, cols)
			for row := range rows {
				lo, hi := row*cols, (row+1)*cols
				top := float64(slices.Max(x[lo:hi]))
				for i, want := range plainSoftmax(x[lo:hi]) {
					roundings := float64(cols) + 4 + top - float64(x[lo+i])
					// Below the smallest normal number plain Go gives 0.
					require.InDelta(t, want, float64(y[lo+i]), eps*roundings*want+0x1p-126, "%v, row %d, column %d", s, row, i)
				}
			}
		}
	}
}

func TestSoftmaxEqualsPlainRows(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testSoftmax[float32](t, 0x1p-24) })
	t.Run("float64", func(t *testing.T) { testSoftmax[float64](t, 0x1p-53) })
}

// testSoftmaxBackward compares with Σⱼ dyⱼ·∂yⱼ/∂xᵢ, from yᵢ·(dyᵢ − Σ dyⱼ·yⱼ) in
// float64.
func testSoftmaxBackward[F Float](t *testing.T, eps float64) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, s := range rowShapes {
		rows, cols := s[0], s[1]
		y, dy, dx := make([]F, rows*cols), randomRows[F](r, rows*cols, 1), randomRows[F](r, rows*cols, 1)
		Softmax(y, randomRows[F](r, rows*cols, 1), cols)
		SoftmaxBackward(dx, y, dy, cols)
		for row := range rows {
			var dot float64
			for i := row * cols; i < (row+1)*cols; i++ {
				dot += float64(y[i]) * float64(dy[i])
			}
			for i := row * cols; i < (row+1)*cols; i++ {
				want := float64(y[i]) * (float64(dy[i]) - dot)
				require.InDelta(t, want, float64(dx[i]), eps*float64(y[i])*8*float64(cols+4), "%v, row %d", s, row)
			}
		}
	}
}

func TestSoftmaxBackwardEqualsPlainRows(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testSoftmaxBackward[float32](t, 0x1p-24) })
	t.Run("float64", func(t *testing.T) { testSoftmaxBackward[float64](t, 0x1p-53) })
}

func TestSoftmaxOfSpecialRows(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct{ x, want []float64 }{
		{x: []float64{-inf, -inf}, want: []float64{0, 0}},
		{x: []float64{-inf, 3}, want: []float64{0, 1}},
		{x: []float64{-math.MaxFloat64, math.MaxFloat64}, want: []float64{0, 1}},
		{x: []float64{math.MaxFloat64, math.MaxFloat64}, want: []float64{0.5, 0.5}},
		{x: []float64{nan, 0}, want: []float64{nan, nan}},
		{x: []float64{0, nan}, want: []float64{nan, nan}},
		{x: []float64{nan, -inf}, want: []float64{nan, nan}},
		{x: []float64{-inf, nan}, want: []float64{nan, nan}},
		{x: []float64{nan, inf}, want: []float64{nan, nan}},
	} {
		y := []float64{7, 7}
		Softmax(y, c.x, 2)
		for i, want := range c.want {
			require.True(t, y[i] == want || math.IsNaN(y[i]) && math.IsNaN(want), "%v: got %v, want %v", c.x, y, c.want)
		}
	}
}

// A result may be computed into an argument's own memory.
func TestSoftmaxInPlace(t *testing.T) {
	x, dy := normals[float32](rand.New(rand.NewPCG(5, 6)), 35), normals[float32](rand.New(rand.NewPCG(7, 8)), 35)
	y, dx := make([]float32, 35), make([]float32, 35)
	Softmax(y, x, 7)
	SoftmaxBackward(dx, y, dy, 7)
	Softmax(x, x, 7)
	SoftmaxBackward(dy, y, dy, 7)
	require.Equal(t, y, x)
	require.Equal(t, dx, dy)
}

func TestSoftmaxBitsDoNotDependOnGoroutines(t *testing.T) {
	const rows, cols = 4099, 33
	r := rand.New(rand.NewPCG(9, 10))
	x, dy := randomRows[float32](r, rows*cols, 1), randomRows[float32](r, rows*cols, 1)
	var want, wantBack []float32
	for _, procs := range []int{1, 2, 3} {
		testenv.SetProcs(t, procs)
		y, dx := make([]float32, rows*cols), make([]float32, rows*cols)
		Softmax(y, x, cols)
		SoftmaxBackward(dx, y, dy, cols)
		if want == nil {
			want, wantBack = y, dx
		}
		require.Equal(t, want, y)
		require.Equal(t, wantBack, dx)
	}
}
