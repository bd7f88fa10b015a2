package mask_test

import (
	"testing"

	"attention/graph/mask"

	"github.com/stretchr/testify/require"
)

func TestReach(t *testing.T) {
	window := mask.SlidingWindow{Left: 3, Right: 1}
	for _, row := range []struct {
		mask mask.Mask
		want int // −1 for any number
	}{
		{nil, -1},
		{mask.Causal{}, -1},
		{window, 3},
		{mask.And(mask.Causal{}, window), 3},
		{mask.And(window, mask.SlidingWindow{Left: 2}, mask.Causal{}), 2},
		{mask.Or(window, mask.SlidingWindow{Left: 5}), 5},
		{mask.Or(window, mask.Prefix{N: 1}), -1},
		{mask.Not(window), -1},
	} {
		before, ok := mask.Reach(row.mask)
		require.Equal(t, row.want >= 0, ok, "%v", row.mask)
		require.Equal(t, max(row.want, 0), before, "%v", row.mask)
	}
}

func TestIsRelative(t *testing.T) {
	window := mask.SlidingWindow{Left: 3, Right: 1}
	for _, m := range []mask.Mask{nil, mask.All{}, mask.Causal{}, window, mask.Not(window), mask.And(mask.Causal{}, window)} {
		require.True(t, mask.IsRelative(m), "%v", m)
	}
	for _, m := range []mask.Mask{mask.Prefix{N: 2}, mask.Or(mask.Causal{}, mask.Prefix{N: 2}), mask.Segments{}} {
		require.False(t, mask.IsRelative(m), "%v", m)
	}
}
