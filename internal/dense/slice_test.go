package dense_test

import (
	"testing"

	"attention/internal/dense"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

func TestSlice(t *testing.T) {
	for _, all := range []any{[]float32{1, 2}, []float64{1, 2}, []int{1, 2}, []int64{1, 2}, []int32{1, 2},
		[]int16{1, 2}, []int8{1, 2}, []uint{1, 2}, []uint8{1, 2}, []uint16{1, 2}, []uint32{1, 2}, []uint64{1, 2},
		[]bool{true, false}, []string{"a", "b"}} {
		require.Equal(t, all, dense.Slice(tensor.New(tensor.WithBacking(all))), "%T", all)
	}
	one := tensor.New(tensor.FromScalar(float32(3)))
	dense.Slice(one).([]float32)[0] = 4
	require.Equal(t, []float32{4}, dense.Slice(one), "a tensor without axes")
	single := tensor.New(tensor.FromScalar(uint32(7)))
	require.Equal(t, []uint32{7}, dense.Slice(single), "a single number")
}
