package train

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// held returns how many sums the recursive definition of the tree holds at the same time while it adds up n batches,
// besides the sums that it already holds.
func held(n int, keep bool, before int, most *int) int {
	if n == 1 {
		if keep {
			before++
		}
		*most = max(*most, before)
		return before
	}
	left := 1
	for 2*left < n {
		left *= 2
	}
	before = held(left, true, before, most)
	held(n-left, false, before, most)
	return before
}

func TestSums(t *testing.T) {
	for n, want := range map[int]int{1: 0, 2: 1, 3: 1, 4: 2, 6: 2, 7: 2, 8: 3, 16: 4} {
		require.Equal(t, want, sumsOf([]int{0, n}), n)
	}
	for first := 1; first < 40; first++ {
		for last := 1; last < 40; last++ {
			most := 0
			before := held(first, true, 0, &most)
			held(last, false, before, &most)
			require.Equal(t, most, sumsOf([]int{2, 2 + first, 2 + first + last}), "%d and %d batches", first, last)
		}
	}
}
