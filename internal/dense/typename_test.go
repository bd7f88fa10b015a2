package dense_test

import (
	"testing"

	"attention/internal/dense"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

func TestTypeName(t *testing.T) {
	require.Equal(t, "float32", dense.TypeName(tensor.Float32))
	require.Equal(t, "bfloat16", dense.TypeName(dense.BF16))
	require.Equal(t, "no type", dense.TypeName(new(tensor.Dense).Dtype()))
}
