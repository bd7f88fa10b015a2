package reversal

import (
	"math/rand/v2"
	"slices"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
)

// Each row is a string, its end, and the reverse after the end mark.
func TestStrings(t *testing.T) {
	b := NewStrings(64, rand.New(rand.NewPCG(1, 0)))
	seen := map[int]int{}
	for range 100 {
		batch := must(b.Next())
		sum := 0
		for row, length := range b.lengths {
			n := length - 1
			sum += n
			seen[n]++
			source, target, targets := b.source[row*(Longest+1):][:Longest+1], b.target[row*Longest:][:Longest],
				b.targets[row*Longest:][:Longest]
			text := slices.Clone(source[:n])
			slices.Reverse(text)
			require.Equal(t, text, targets[:n])
			require.Equal(t, append([]int{endMark}, text[:n-1]...), target[:n])
			require.Equal(t, endMark, source[n])
			for i := n; i < Longest; i++ {
				require.Equal(t, []int{0, 0, graph.IgnoreTarget}, []int{source[i+1], target[i], targets[i]})
			}
		}
		require.Equal(t, sum, batch.Tokens)
	}
	require.Len(t, seen, Longest-Shortest+1)
	require.Greater(t, seen[Longest], 6400/36, "long ones come more often")
	text, reverse := b.Row(3)
	back := []byte(reverse)
	slices.Reverse(back)
	require.Equal(t, text, string(back))
	require.Regexp(t, "^[a-j]{5,40}$", text)
}
