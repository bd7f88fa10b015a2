package dense_test

import (
	"testing"

	"attention/internal/dense"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

func TestOf(t *testing.T) {
	elements := []float64{1, 0.1, -3, 4, 5, 6}
	wide := dense.Of(tensor.Float64, elements, 2, 3)
	require.Equal(t, tensor.Shape{2, 3}, wide.Shape())
	require.Equal(t, elements, wide.Data())
	narrow := dense.Of(tensor.Float32, elements, 3, 2)
	require.Equal(t, tensor.Shape{3, 2}, narrow.Shape())
	require.Equal(t, []float32{1, 0.1, -3, 4, 5, 6}, narrow.Data())
}
