package text

import (
	"errors"
	"io"
	"testing"

	"attention/train"

	"github.com/stretchr/testify/require"
)

// counted returns how often each id is a target up to the end of a source.
func counted(t *testing.T, s train.Source) map[int]int {
	asked := map[int]int{}
	for {
		b, err := s.Next()
		if errors.Is(err, io.EOF) {
			return asked
		}
		require.NoError(t, err)
		for _, id := range b.Inputs[Targets].Ints() {
			if id >= 0 {
				asked[id]++
			}
		}
	}
}

func numbers(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i
	}
	return ids
}

// Every pass has other targets, and the second evaluation equals the first.
func TestPasses(t *testing.T) {
	for _, row := range []struct {
		reason   string
		lastOnly bool
		context  int
		want     int
	}{
		{reason: "every target counts in one pass", context: 7, want: 100},
		{reason: "a pass for each target of a window", lastOnly: true, context: 7, want: 94},
		{reason: "as many as there may be", lastOnly: true, context: 20, want: 5 + 4*7},
		{reason: "no more than the text has room for", lastOnly: true, context: 100, want: 1},
	} {
		p, err := NewPasses(numbers(101), WindowConfig{Batch: 3, Context: row.context, LastOnly: row.lastOnly})
		require.NoError(t, err)
		for range 2 {
			asked := counted(t, p)
			require.Len(t, asked, row.want, row.reason)
			for id, times := range asked {
				require.Equal(t, 1, times, "%s: %d", row.reason, id)
			}
		}
	}
	_, err := NewPasses(numbers(3), WindowConfig{Batch: 3, Context: 3, LastOnly: true})
	require.Error(t, err)
}

// A sample is the same each time: the first windows of the seed.
func TestSample(t *testing.T) {
	c := WindowConfig{Batch: 2, Context: 5}
	s, err := NewSample(numbers(50), c, 3, 4)
	require.NoError(t, err)
	first := counted(t, s)
	require.Equal(t, first, counted(t, s))
	w, err := NewWindows(numbers(50), c, 3)
	require.NoError(t, err)
	want := map[int]int{}
	for range 4 {
		b, err := w.Next()
		require.NoError(t, err)
		for _, id := range b.Inputs[Targets].Ints() {
			want[id]++
		}
	}
	require.Equal(t, want, first)
	_, err = NewSample(nil, c, 3, 4)
	require.Error(t, err)
}
