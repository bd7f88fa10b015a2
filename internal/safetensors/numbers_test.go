package safetensors_test

import (
	"math"
	"testing"

	"attention/internal/safetensors"

	"github.com/stretchr/testify/require"
)

func TestFloats(t *testing.T) {
	wide := []float64{1, 0.1, math.Inf(-1)}
	require.Equal(t, []float32{1, 0.1, float32(math.Inf(-1))}, safetensors.Floats[float32](wide))
	require.Equal(t, []float64{1, float64(float32(0.1))}, safetensors.Floats[float64]([]float32{1, 0.1}))
	same := safetensors.Floats[float64](wide)
	same[0] = 2
	require.Equal(t, 1.0, wide[0], "a copy")
	require.Nil(t, safetensors.Floats[float64]([]int64{1}))
	require.Nil(t, safetensors.Floats[float64](nil))
	require.NotNil(t, safetensors.Floats[float64]([]float32{}), "none is not another type")
}

func TestIntegers(t *testing.T) {
	for _, data := range []any{[]int64{-1, 7}, []int32{-1, 7}, []int16{-1, 7}, []int8{-1, 7}} {
		require.Equal(t, []int64{-1, 7}, safetensors.Integers(data), "%T", data)
	}
	require.Equal(t, []int64{255}, safetensors.Integers([]uint8{255}))
	require.Equal(t, []int64{math.MinInt64}, safetensors.Integers([]int64{math.MinInt64}))
	require.Nil(t, safetensors.Integers([]float32{1}))
	require.Nil(t, safetensors.Integers([]bool{true}))
	require.NotNil(t, safetensors.Integers([]int8{}), "none is not another type")
}
