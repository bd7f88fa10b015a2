package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Columns give the results of rows of the array with its last two axes exchanged.
func testSoftmaxColumns[F Float](t *testing.T, eps float64) {
	r := rand.New(rand.NewPCG(5, 8))
	for _, c := range []struct{ outer, n, inner int }{
		{outer: 1, n: 1, inner: 1}, {outer: 2, n: 3, inner: 1}, {outer: 1, n: 5, inner: 3},
		{outer: 3, n: 4, inner: 129}, {outer: 40, n: 33, inner: 65}, {outer: 1, n: 900, inner: 7}, {outer: 2, n: 1, inner: 4},
	} {
		for _, log := range []bool{false, true} {
			t.Run(fmt.Sprint(c, log), func(t *testing.T) {
				n := c.outer * c.n * c.inner
				x, dy := randomRows[F](r, n, 10), randomRows[F](r, n, 1)
				forward, backward := Softmax[F], SoftmaxBackward[F]
				if log {
					forward, backward = LogSoftmax[F], LogSoftmaxBackward[F]
				}
				turn := NewPermutation([]int{c.outer, c.n, c.inner}, []int{0, 2, 1})
				back := NewPermutation([]int{c.outer, c.inner, c.n}, []int{0, 2, 1})
				rows, want, dyRows, wantDx := nans[F](n), nans[F](n), nans[F](n), nans[F](n)
				Permute(rows, x, turn)
				forward(rows, rows, c.n)
				Permute(want, rows, back)
				Permute(dyRows, dy, turn)
				backward(dyRows, rows, dyRows, c.n)
				Permute(wantDx, dyRows, back)

				columns := Columns{N: c.n, Inner: c.inner, Log: log}
				y, dx := nans[F](n), nans[F](n)
				SoftmaxColumns(y, x, columns)
				SoftmaxColumnsBackward(dx, y, dy, columns)
				for i := range y {
					require.InDelta(t, want[i], y[i], eps*(1+math.Abs(float64(want[i]))))
					require.InDelta(t, wantDx[i], dx[i], eps*float64(c.n))
				}
				again := slices.Clone(y)
				SoftmaxColumns(x, x, columns)
				require.Equal(t, y, x, "in place")
				SoftmaxColumnsBackward(dy, y, dy, columns)
				require.Equal(t, dx, dy, "in place of dy")
				SoftmaxColumnsBackward(again, again, slices.Clone(dy), columns)
			})
		}
	}
}

func TestSoftmaxColumnsEqualSoftmaxOfRows(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testSoftmaxColumns[float32](t, 5e-7) })
	t.Run("float64", func(t *testing.T) { testSoftmaxColumns[float64](t, 1e-14) })
}

func TestSoftmaxOfSpecialColumns(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	x := []float64{
		-inf, -inf, nan, 1, 0,
		-inf, 3, 0, inf, 1000,
	}
	for _, c := range []struct {
		log  bool
		want []float64
	}{
		{log: false, want: []float64{0, 0, nan, nan, 0, 0, 1, nan, nan, 1}},
		{log: true, want: []float64{-inf, -inf, nan, nan, -1000, -inf, 0, nan, nan, 0}},
	} {
		y := nans[float64](len(x))
		SoftmaxColumns(y, x, Columns{N: 2, Inner: 5, Log: c.log})
		for i, want := range c.want {
			require.True(t, y[i] == want || y[i] != y[i] && want != want, "%v: %v", c.log, y)
		}
		SoftmaxColumnsBackward(y, y, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, Columns{N: 2, Inner: 5, Log: c.log})
		require.Equal(t, []float64{0, 0}, []float64{y[0], y[5]}, "of what is impossible")
	}
}
