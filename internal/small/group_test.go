package small_test

import (
	"errors"
	"testing"

	"attention/internal/small"
	"attention/train/parallel"

	"github.com/stretchr/testify/require"
)

// The other processes do not wait for a process that has failed.
func TestTogetherEnds(t *testing.T) {
	failed := errors.New("failed")
	errs := small.Together(t, 3, func(g *parallel.Group) error {
		if g.Rank() == 1 {
			return failed
		}
		return g.Agree(nil)
	})
	require.Equal(t, failed, errs[1])
	require.ErrorContains(t, errs[0], "rank 1 has left the group")
	require.Error(t, errs[2])
}
