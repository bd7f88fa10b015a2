package dense_test

import (
	"testing"

	"attention/internal/dense"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

func TestSlice(t *testing.T) {
	for _, all := range []any{[]float32{1, 2}, []float64{1, 2}, []int{1, 2}, []int64{1, 2}, []int32{1, 2},
		[]int16{1, 2}, []int8{1, 2}, []uint8{1, 2}, []bool{true, false}, []string{"a", "b"}} {
		require.Equal(t, all, dense.Slice(tensor.New(tensor.WithBacking(all))), "%T", all)
	}
	one := tensor.New(tensor.FromScalar(float32(3)))
	dense.Slice(one).([]float32)[0] = 4
	require.Equal(t, []float32{4}, dense.Slice(one), "a tensor without axes")
}
