package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func testLogSoftmax[F Float](t *testing.T, eps float64) {
	r := rand.New(rand.NewPCG(5, 7))
	for _, cols := range []int{1, 2, 7, 16, 65, 300, 1031} {
		const rows = 37
		x, dy := randomRows[F](r, rows*cols, 30), randomRows[F](r, rows*cols, 1)
		y, dx := nans[F](len(x)), nans[F](len(x))
		LogSoftmax(y, x, cols)
		LogSoftmaxBackward(dx, y, dy, cols)
		for i := range rows {
			p := plainSoftmax(x[i*cols:][:cols])
			up, size := 0.0, 0.0
			for _, v := range dy[i*cols:][:cols] {
				up += float64(v)
				size += math.Abs(float64(v))
			}
			for j, v := range p {
				at := i*cols + j
				require.InDelta(t, math.Log(v), float64(y[at]), eps*(1+math.Abs(math.Log(v))))
				require.InDelta(t, float64(dy[at])-v*up, float64(dx[at]), eps*(1+size))
			}
		}
		want, wantDx := append([]F{}, y...), append([]F{}, dx...)
		LogSoftmax(x, x, cols)
		require.Equal(t, want, x, "in place")
		LogSoftmaxBackward(dy, y, dy, cols)
		require.Equal(t, wantDx, dy, "in place of dy")
	}
}

func TestLogSoftmaxEqualsPlainRows(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testLogSoftmax[float32](t, 4e-7) })
	t.Run("float64", func(t *testing.T) { testLogSoftmax[float64](t, 1e-14) })
}

func TestLogSoftmaxOfSpecialRows(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name    string
		x, want []float64
	}{
		{name: "nothing is possible", x: []float64{-inf, -inf}, want: []float64{-inf, -inf}},
		{name: "one is", x: []float64{-inf, 5, -inf}, want: []float64{-inf, 0, -inf}},
		{name: "huge", x: []float64{1e300, 1e300 / 2}, want: []float64{0, -1e300 / 2}},
		{name: "NaN", x: []float64{1, nan, 2}, want: []float64{nan, nan, nan}},
		{name: "+∞", x: []float64{1, inf, 2}, want: []float64{nan, nan, nan}},
	} {
		t.Run(c.name, func(t *testing.T) {
			y := nans[float64](len(c.x))
			LogSoftmax(y, c.x, len(c.x))
			for i, want := range c.want {
				if math.IsNaN(want) {
					require.True(t, math.IsNaN(y[i]), "%v", y)
				} else {
					require.Equal(t, want, y[i])
				}
			}
		})
	}
}
