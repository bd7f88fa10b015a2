package dense_test

import (
	"math"
	"testing"

	"attention/internal/dense"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

func TestBF16(t *testing.T) {
	x := tensor.New(tensor.WithShape(3, 1), tensor.WithBacking([]dense.BFloat16{0x3f80, 0xc040, 0x7f80}))
	require.Equal(t, []uint16{0x3f80, 0xc040, 0x7f80}, dense.BF16s(x))
	wide := dense.Widened(x)
	require.Equal(t, tensor.Shape{3, 1}, wide.Shape())
	require.Equal(t, []float32{1, -3, float32(math.Inf(1))}, wide.Data())
	require.Same(t, wide, dense.Widened(wide))
	require.Equal(t, []float64{1, -3, math.Inf(1)}, dense.Float64s(x))
	require.Equal(t, []float32{-3}, dense.Float32s(x, 1, 2))
	require.Equal(t, []byte{0x40, 0xc0}, dense.BytesOf(x, 1, 2))
	one := tensor.New(tensor.WithShape(1), tensor.WithBacking([]dense.BFloat16{0x3f80}))
	require.Equal(t, []uint16{0x3f80}, dense.BF16s(one))
}

func TestOfBytes(t *testing.T) {
	bytes := []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}
	for _, isMapped := range []bool{false, true} {
		x := dense.OfBytes(tensor.Float32, bytes, isMapped, 1, 2)
		require.Equal(t, []float32{1, 2}, x.Data())
		require.Equal(t, isMapped, x.IsManuallyManaged())
		require.Equal(t, []float64{2.000000473111868}, dense.OfBytes(tensor.Float64, bytes, isMapped, 1).Float64s())
		y := dense.OfBytes(dense.BF16, bytes, isMapped, 4)
		require.Equal(t, []uint16{0, 0x3f80, 0, 0x4000}, dense.BF16s(y))
	}
}

func TestIsFinite(t *testing.T) {
	nan, large := math.NaN(), math.MaxFloat64
	for _, row := range []struct {
		of   any
		want bool
	}{
		{[]float64{1, large, -large}, true},
		{[]float64{1, nan}, false},
		{[]float32{math.MaxFloat32, 0}, true},
		{[]float32{float32(math.Inf(-1)), 0}, false},
		{[]dense.BFloat16{0x7f7f, 0, 0x8000}, true},
		{[]dense.BFloat16{0, 0xff80}, false},
		{[]dense.BFloat16{0x7fc0, 0}, false},
	} {
		require.Equal(t, row.want, dense.IsFinite(tensor.New(tensor.WithBacking(row.of))), "%v", row.of)
	}
}
