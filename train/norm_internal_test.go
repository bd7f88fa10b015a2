package train

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// With fewer than four batches a block is a whole parameter; for Muon it always is.
func TestBlocks(t *testing.T) {
	slots := []slot{{own: Span{0, 10}}, {own: Span{0, 3*blockSize + 1}}}
	whole := []block{{0, Span{0, 10}}, {1, Span{0, 3*blockSize + 1}}}
	require.Equal(t, whole, blocksOf(slots, 3))
	require.Len(t, blocksOf(slots, 4), 5)
	slots[1].solver = Muon
	require.Equal(t, whole, blocksOf(slots, 4))
}
