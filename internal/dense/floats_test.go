package dense_test

import (
	"math"
	"testing"

	"attention/internal/dense"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func TestIsFloat(t *testing.T) {
	require.True(t, dense.IsFloat(tensor.Float32))
	require.True(t, dense.IsFloat(tensor.Float64))
	require.False(t, dense.IsFloat(tensor.Int))
	require.False(t, dense.IsFloat(new(tensor.Dense).Dtype()), "no type")
}

func TestFloatsAreTheMemory(t *testing.T) {
	for _, row := range []struct {
		name string
		of   G.Value
	}{
		{name: "a tensor", of: tensor.New(tensor.WithBacking([]float32{1, 2}))},
		{name: "a tensor without axes", of: tensor.New(tensor.FromScalar(float32(1)))},
		{name: "a scalar", of: G.NewF32(1)},
	} {
		all := dense.Floats[float32](row.of)
		require.Equal(t, float32(1), all[0], row.name)
		all[0] = 3
		require.Equal(t, 3., dense.Float64s(row.of)[0], row.name)
	}
	require.Equal(t, []float64{5}, dense.Floats[float64](G.NewF64(5)))
	require.Equal(t, []float64{5, 6}, dense.Floats[float64](tensor.New(tensor.WithBacking([]float64{5, 6}))))
	require.PanicsWithValue(t, "dense: floats: got a *gorgonia.I, want a tensor or a scalar of floats",
		func() { dense.Floats[float64](G.NewI(1)) })
}

func TestSetFloats(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		d := dense.Of(dt, []float64{1, 2, 3, 4}, 2, 2)
		dense.SetFloats(d, []float64{5, 6, 0.5, math.Inf(-1)})
		require.Equal(t, []float64{5, 6, 0.5, math.Inf(-1)}, dense.Float64s(d))
	}
}

func TestFloat32s(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		d := dense.Of(dt, []float64{1, 0.1, 3, 4}, 2, 2)
		got := dense.Float32s(d, 1, 3)
		require.Equal(t, []float32{0.1, 3}, got)
		got[0] = 7
		require.NotEqual(t, 7., dense.Float64s(d)[1], "it is a copy")
	}
}

func TestFloat64s(t *testing.T) {
	turned := tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]float32{1, 2, 3, 4, 5, 6}))
	require.NoError(t, turned.T())
	for _, row := range []struct {
		name string
		of   G.Value
		want []float64
	}{
		{name: "float64", of: tensor.New(tensor.WithBacking([]float64{1, 0.1})), want: []float64{1, 0.1}},
		{name: "float32", of: tensor.New(tensor.WithBacking([]float32{1, 0.5})), want: []float64{1, 0.5}},
		{name: "a single float64", of: tensor.New(tensor.FromScalar(0.1)), want: []float64{0.1}},
		{name: "a single float32", of: tensor.New(tensor.FromScalar(float32(0.5))), want: []float64{0.5}},
		{name: "a scalar", of: G.NewF32(0.5), want: []float64{0.5}},
		{name: "ints", of: tensor.New(tensor.WithBacking([]int{1, -2})), want: []float64{1, -2}},
		{name: "a single int", of: tensor.New(tensor.FromScalar(3)), want: []float64{3}},
		{name: "int64s", of: tensor.New(tensor.WithBacking([]int64{1, -2})), want: []float64{1, -2}},
		{name: "bools", of: tensor.New(tensor.WithBacking([]bool{true, false})), want: []float64{1, 0}},
		{name: "transposed", of: turned, want: []float64{1, 4, 2, 5, 3, 6}},
		{name: "another type", of: tensor.New(tensor.WithBacking([]string{"x"}))},
	} {
		require.Equal(t, row.want, dense.Float64s(row.of), row.name)
	}
	d := tensor.New(tensor.WithBacking([]float64{1, 2}))
	require.Same(t, &d.Float64s()[0], &dense.Float64s(d)[0], "the memory of a float64 tensor")
}
