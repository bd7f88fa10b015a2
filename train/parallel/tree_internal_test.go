package parallel

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The left part of a node is the largest power of two below its size.
func TestTreeHalves(t *testing.T) {
	for _, row := range []struct{ n, left int }{{2, 1}, {3, 2}, {4, 2}, {5, 4}, {6, 4}, {7, 4}, {8, 4}, {9, 8},
		{1000, 512}} {
		left, right := node{10, 10 + row.n}.halves()
		require.Equal(t, node{10, 10 + row.left}, left, row.n)
		require.Equal(t, node{10 + row.left, 10 + row.n}, right, row.n)
	}
}

// The shares' nodes cover the batches in order, and each is one of the tree.
func TestNodesOfShares(t *testing.T) {
	for n := 1; n <= 40; n++ {
		tree := map[node]bool{}
		var add func(s node)
		add = func(s node) {
			if tree[s] = true; s.len() > 1 {
				left, right := s.halves()
				add(left)
				add(right)
			}
		}
		add(node{0, n})
		for size := 1; size <= n; size++ {
			at := 0
			for rank := range size {
				share := shareOf(rank, size, n)
				require.InDelta(t, n/size, share.len(), 1)
				for _, part := range (node{0, n}).nodesIn(share) {
					require.Equal(t, at, part.lo)
					require.True(t, tree[part], part)
					at = part.hi
				}
				require.Equal(t, share.hi, at)
			}
			require.Equal(t, n, at)
		}
	}
	require.Equal(t, []node{{3, 4}, {4, 8}, {8, 9}}, node{0, 9}.nodesIn(node{3, 9}))
}
