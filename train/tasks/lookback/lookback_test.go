package lookback

import (
	"math/rand/v2"
	"slices"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
)

// drawn calls f for the ids and targets of 400 sequences of each level of a task.
func drawn(t *testing.T, task Task, f func(level int, ids, targets []int)) {
	s, err := New(task, 400, rand.New(rand.NewPCG(1, 0)))
	require.NoError(t, err)
	for _, level := range task.Levels() {
		batch, counted := s.Draw(level), 0
		for row := range 400 {
			ids, targets := s.ids[row*Context:][:Context], s.targets[row*Context:][:Context]
			for i, target := range targets {
				require.True(t, ids[i] >= 0 && ids[i] < task.Vocabulary())
				if target != graph.IgnoreTarget {
					require.True(t, target >= 0 && target < task.Vocabulary())
					counted++
				}
			}
			f(level, ids, targets)
		}
		require.Equal(t, counted, batch.Tokens)
	}
}

// The letters after the second mark equal those after the first; the level is the distance.
func TestCopy(t *testing.T) {
	drawn(t, Copy, func(distance int, ids, targets []int) {
		first := slices.Index(ids, mark)
		again := first + 1 + slices.Index(ids[first+1:], mark)
		text := ids[first+1:][:copied]
		require.Equal(t, distance, again-first-1)
		require.Equal(t, text, targets[again:])
		require.Equal(t, text[:copied-1], ids[again+1:])
		seen := map[int]bool{}
		for _, letter := range text {
			require.Less(t, letter, letters)
			require.False(t, seen[letter], "letters differ")
			seen[letter] = true
		}
		require.Equal(t, again, slices.IndexFunc(targets, func(id int) bool { return id != graph.IgnoreTarget }))
		for i, id := range ids {
			if i < first || i > first+copied && i < again {
				require.Equal(t, space, id)
			}
		}
	})
}

// Each key occurs twice, and its value is the answer at the second occurrence.
func TestRecall(t *testing.T) {
	drawn(t, Recall, func(pairs int, ids, targets []int) {
		given := map[int]int{}
		for i := range pairs {
			require.Less(t, ids[2*i], keys)
			require.True(t, ids[2*i+1] >= keys && ids[2*i+1] < blank)
			given[ids[2*i]] = ids[2*i+1]
		}
		require.Len(t, given, pairs, "keys differ")
		for i, id := range ids {
			if i < 2*pairs || id == blank {
				require.Equal(t, graph.IgnoreTarget, targets[i])
				continue
			}
			require.Equal(t, given[id], targets[i])
			delete(given, id)
		}
		require.Empty(t, given, "each key is asked for")
	})
}

// Next draws all levels, and equal seeds draw equal sequences.
func TestSequencesOfAllLevels(t *testing.T) {
	for _, task := range Tasks() {
		seen := map[int]bool{}
		one, err := New(task, 2000, rand.New(rand.NewPCG(1, 2)))
		require.NoError(t, err)
		two, err := New(task, 2000, rand.New(rand.NewPCG(1, 2)))
		require.NoError(t, err)
		for range 2 {
			batch, err := one.Next()
			require.NoError(t, err)
			same, err := two.Next()
			require.NoError(t, err)
			require.Equal(t, same, batch)
		}
		for at := 0; at < len(one.ids); at += Context {
			row := one.ids[at:][:Context]
			if task == Copy {
				first := slices.Index(row, mark)
				seen[slices.Index(row[first+1:], mark)] = true
			} else {
				seen[slices.IndexFunc(row, func(id int) bool { return id == blank })/2] = true
			}
		}
		for _, level := range task.Levels() {
			require.True(t, seen[level], "%s: level %d", task, level)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	_, err := New("sort", 3, random)
	require.EqualError(t, err, `lookback: task: got "sort", want copy or recall`)
	_, err = New(Copy, 0, random)
	require.EqualError(t, err, "lookback: Batch: got 0, want at least 1")
}
