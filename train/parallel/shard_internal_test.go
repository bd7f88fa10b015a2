package parallel

import (
	"testing"

	"attention/train"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// sized is a Transport that has only a size.
type sized struct {
	Transport
	rank, size int
}

func (s sized) Rank() int { return s.rank }
func (s sized) Size() int { return s.size }

// Shards are runs of whole blocks, as equal as blocks allow, and their pieces cover them completely.
func TestShards(t *testing.T) {
	const blockSize = 1 << 16
	counts := []int{10, 3 * blockSize, 7, 2*blockSize + 5, 1}
	var params []train.Param
	var ends []int
	total := 0
	for _, n := range counts {
		value := tensor.New(tensor.Of(tensor.Float32), tensor.WithShape(n))
		params = append(params, train.Param{Name: "w", Value: value, Grad: value})
		for end := total + n; total < end; {
			total = min(total+blockSize, end)
			ends = append(ends, total)
		}
	}
	for size := 1; size <= 9; size++ {
		g, err := New(sized{size: size})
		require.NoError(t, err)
		s := g.Share(params, ends, 16).(*shards)
		at, block, owned := 0, 0, make([]int, len(params))
		for rank, shard := range s.spans {
			require.Equal(t, at, shard.Lo)
			at = shard.Hi
			require.InDelta(t, total/size, shard.Len(), blockSize)
			if block += s.blocks[rank]; block > 0 {
				require.Equal(t, ends[block-1], shard.Hi)
			}
			for i, own := range s.ownOf(rank) {
				owned[i] += own.Len()
			}
			next := shard.Lo
			for k := range s.numPieces() {
				require.Equal(t, min(next, shard.Hi), s.piece(rank, k).Lo)
				next = s.piece(rank, k).Hi
			}
			require.Equal(t, shard.Hi, next)
		}
		require.Equal(t, len(ends), block)
		require.Equal(t, total, at)
		require.Equal(t, counts, owned)
	}
}
