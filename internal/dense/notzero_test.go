package dense

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

func TestNotZero(t *testing.T) {
	want := []bool{true, false, true}
	for _, values := range []any{
		[]bool{true, false, true}, []int{1, 0, -1}, []int8{1, 0, -1}, []int16{1, 0, -1}, []int32{1, 0, -1},
		[]int64{1, 0, -1}, []uint{1, 0, 2}, []uint8{1, 0, 2}, []uint16{1, 0, 2}, []uint32{1, 0, 2}, []uint64{1, 0, 2},
		[]float32{1, 0, -1}, []float64{1, 0, 0.5},
	} {
		is, other := NotZero(tensor.New(tensor.WithShape(3), tensor.WithBacking(values)), nil)
		require.Equal(t, want, is, "%T", values)
		if _, ok := values.([]bool); ok {
			require.Negative(t, other)
		} else {
			require.Equal(t, 2, other, "%T", values)
		}
	}
	is, _ := NotZero(tensor.New(tensor.WithShape(1), tensor.WithBacking([]string{"x"})), nil)
	require.Nil(t, is)
}
