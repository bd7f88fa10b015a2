package train

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// sized is a Group of which only the size matters.
type sized struct {
	alone
	rank, size int
}

func (s sized) Rank() int { return s.rank }
func (s sized) Size() int { return s.size }

func sharedParams(sizes ...int) (params []Param) {
	for _, n := range sizes {
		value := tensor.New(tensor.Of(tensor.Float32), tensor.WithShape(n))
		params = append(params, Param{Name: "w", Value: value, Grad: value})
	}
	return params
}

// Shards are runs of whole blocks, as equal as blocks allow, and their pieces cover them.
func TestShards(t *testing.T) {
	params := sharedParams(10, 3*blockSize, 7, 2*blockSize+5, 1)
	total := 5*blockSize + 23
	for size := 1; size <= 9; size++ {
		s := newSharing(&team{Group: sized{size: size}}, params, 16)
		at, owned := 0, make([]int, len(params))
		for rank, shard := range s.shards {
			require.Equal(t, at, shard.lo)
			at = shard.hi
			require.InDelta(t, total/size, shard.len(), blockSize)
			length := 0
			for _, b := range s.blocks[rank] {
				length += b.len()
				require.LessOrEqual(t, b.len(), blockSize)
			}
			require.Equal(t, shard.len(), length)
			for i, own := range s.ownOf(rank) {
				owned[i] += own.len()
			}
			next := shard.lo
			for k := range s.numPieces() {
				require.Equal(t, min(next, shard.hi), s.piece(rank, k).lo)
				next = s.piece(rank, k).hi
			}
			require.Equal(t, shard.hi, next)
		}
		require.Equal(t, total, at)
		require.Equal(t, []int{10, 3 * blockSize, 7, 2*blockSize + 5, 1}, owned)
	}
}

// With fewer than four batches a block is a whole parameter, as it was in the norms of earlier programs.
func TestBlocksOfFewBatches(t *testing.T) {
	params := sharedParams(10, 3*blockSize+1)
	require.Equal(t, []block{{0, span{0, 10}}, {1, span{0, 3*blockSize + 1}}}, blocksOf(params, 3))
	require.Len(t, blocksOf(params, 4), 5)
}
