package tasks_test

import (
	"errors"
	"testing"

	"attention/train/tasks"

	"github.com/stretchr/testify/require"
)

// For a model that writes twice the id before, modulo 7, each run fixes one id, in all rows at the same time; the last
// run has all ids as its input.
func TestGreedy(t *testing.T) {
	want := []int{2, 4, 1, 2, 6, 5, 3, 6}
	for _, c := range []struct {
		target []int
		runs   int
	}{
		{[]int{1, 0, 0, 0, 3, 0, 0, 0}, 4},
		{[]int{1, 2, 4, 0, 3, 6, 0, 0}, 3},
		{[]int{1, 2, 4, 1, 3, 6, 5, 3}, 1},
	} {
		runs := 0
		got, err := tasks.Greedy(c.target, 2, func() (ids []int, err error) {
			runs++
			for _, id := range c.target {
				ids = append(ids, 2*id%7)
			}
			return ids, nil
		})
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, c.runs, runs)
		require.Equal(t, []int{1, 2, 4, 1, 3, 6, 5, 3}, c.target)
	}
	failed := errors.New("failed")
	_, err := tasks.Greedy([]int{1, 0}, 1, func() ([]int, error) { return nil, failed })
	require.Equal(t, failed, err)
}
