package train

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// With fewer than four batches a block is a whole parameter.
func TestBlocksOfFewBatches(t *testing.T) {
	var params []Param
	for _, n := range []int{10, 3*blockSize + 1} {
		value := tensor.New(tensor.Of(tensor.Float32), tensor.WithShape(n))
		params = append(params, Param{Name: "w", Value: value, Grad: value})
	}
	require.Equal(t, []block{{0, Span{0, 10}}, {1, Span{0, 3*blockSize + 1}}}, blocksOf(params, 3))
	require.Len(t, blocksOf(params, 4), 5)
}
