package train

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The left part of a node is the largest power of two below its size.
func TestTreeHalves(t *testing.T) {
	for _, row := range []struct{ n, left int }{{2, 1}, {3, 2}, {4, 2}, {5, 4}, {6, 4}, {7, 4}, {8, 4}, {9, 8},
		{1000, 512}} {
		left, right := span{10, 10 + row.n}.halves()
		require.Equal(t, span{10, 10 + row.left}, left, row.n)
		require.Equal(t, span{10 + row.left, 10 + row.n}, right, row.n)
	}
}

// The shares' nodes cover the batches in order, and each is one of the tree.
func TestNodesOfShares(t *testing.T) {
	for n := 1; n <= 40; n++ {
		tree := map[span]bool{}
		var add func(s span)
		add = func(s span) {
			if tree[s] = true; s.len() > 1 {
				left, right := s.halves()
				add(left)
				add(right)
			}
		}
		add(span{0, n})
		for size := 1; size <= n; size++ {
			at := 0
			for rank := range size {
				share := shareOf(rank, size, n)
				require.InDelta(t, n/size, share.len(), 1)
				for _, node := range (span{0, n}).nodesIn(share) {
					require.Equal(t, at, node.lo)
					require.True(t, tree[node], node)
					at = node.hi
				}
				require.Equal(t, share.hi, at)
			}
			require.Equal(t, n, at)
		}
	}
	require.Equal(t, []span{{3, 4}, {4, 8}, {8, 9}}, span{0, 9}.nodesIn(span{3, 9}))
}

// counted counts the vectors that sumNode holds at once, as it does.
func counted(s span, keep bool, held int, most *int) int {
	if s.len() == 1 {
		if keep {
			held++
		}
		*most = max(*most, held)
		return held
	}
	left, right := s.halves()
	held = counted(left, true, held, most)
	counted(right, false, held, most)
	return held
}

func TestBuffers(t *testing.T) {
	for n, want := range map[int]int{1: 0, 2: 1, 3: 1, 4: 2, 6: 2, 7: 2, 8: 3, 16: 4} {
		require.Equal(t, want, span{0, n}.buffers(false), n)
	}
	for n := 1; n < 100; n++ {
		for _, keep := range []bool{false, true} {
			most := 0
			counted(span{0, n}, keep, 0, &most)
			require.Equal(t, most, span{0, n}.buffers(keep), n)
		}
	}
}
