package dense_test

import (
	"testing"

	"attention/internal/dense"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

func TestByType(t *testing.T) {
	require.Equal(t, tensor.Float32, dense.TypeOf[float32]())
	require.Equal(t, tensor.Float64, dense.TypeOf[float64]())
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		of := dense.ByType(dt, dense.TypeOf[float32], dense.TypeOf[float64])
		require.Equal(t, dt, of())
		require.Equal(t, dt, dense.NewScalar(dt).Dtype())
		require.Zero(t, dense.Float64s(dense.NewScalar(dt))[0])
	}
	require.Equal(t, tensor.Int, dense.NewScalar(tensor.Int).Dtype())
}
