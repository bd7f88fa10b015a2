// Package lookback has two tasks that show how far, and at how many tokens, an attention can look back: copying letters
// from a distance, and answering keys with the values that came with them. The measure is the share of right answers,
// by distance or by number of pairs.
package lookback

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Task is a task.
type Task string

// The tasks.
const (
	// Copy is a sequence of blanks, a mark, letters that differ, blanks, the mark and the letters again. The model has to
	// predict the letters after the second mark.
	Copy Task = "copy"
	// Recall is multi-query associative recall (Arora et al. 2023): pairs of a key and a value, then each key once more
	// with blanks around it. At these keys the model has to predict their values.
	Recall Task = "recall"
)

// Context is T, the number of tokens of a sequence.
const Context = 64

// The ids of task Copy.
const (
	copied  = 8  // letters of a sequence
	letters = 16 // ids from 0 on
	space   = letters
	mark    = space + 1
)

// The ids of task Recall.
const (
	keys   = 32 // ids from 0 on
	values = 32 // ids after those of the keys
	blank  = keys + values
)

// Tasks returns the names of the tasks.
func Tasks() []Task { return []Task{Copy, Recall} }

// Levels returns the levels of difficulty, ascending: for Copy the number of tokens between a letter and its copy, for
// Recall the number of pairs.
func (t Task) Levels() []int {
	if t == Copy {
		return []int{12, 20, 28, 36, 44, 55}
	}
	return []int{1, 2, 4, 6, 8, 10, 12, 14, 16}
}

// Level returns the unit of a level in words.
func (t Task) Level() string {
	if t == Copy {
		return "tokens from a letter to its copy"
	}
	return "pairs of a key and a value"
}

// Vocabulary returns V, the number of ids.
func (t Task) Vocabulary() int {
	if t == Copy {
		return mark + 1
	}
	return blank + 1
}

// validate returns an error for an unknown task.
func (t Task) validate() error {
	if slices.Contains(Tasks(), t) {
		return nil
	}
	return fmt.Errorf("lookback: task: got %q, want %s or %s", t, Copy, Recall)
}

// draw draws a level for training: any from the first to the last.
func (t Task) draw(random *rand.Rand) int {
	levels := t.Levels()
	first, last := levels[0], levels[len(levels)-1]
	return first + random.IntN(last-first+1)
}

// write writes a sequence of a level to ids and its answers to targets; other elements of targets stay unchanged. It
// returns the number of answers.
func (t Task) write(ids, targets []int, level int, random *rand.Rand) int {
	if t == Copy {
		return writeCopy(ids, targets, level, random)
	}
	return writeRecall(ids, targets, level, random)
}

// writeCopy writes blanks, the mark, the letters, blanks, the mark and all letters except the last.
func writeCopy(ids, targets []int, distance int, random *rand.Rand) int {
	for i := range ids {
		ids[i] = space
	}
	text := random.Perm(letters)[:copied]
	again := len(ids) - copied // the position at which the first letter is the answer
	first := again - distance
	ids[first-1], ids[again] = mark, mark
	copy(ids[first:], text)
	copy(ids[again+1:], text)
	return copy(targets[again:], text)
}

// writeRecall writes pairs, and then the keys among blanks.
func writeRecall(ids, targets []int, pairs int, random *rand.Rand) int {
	for i := range ids {
		ids[i] = blank
	}
	known := random.Perm(keys)[:pairs]
	given := make([]int, pairs)
	for i, key := range known {
		given[i] = keys + random.IntN(values)
		ids[2*i], ids[2*i+1] = key, given[i]
	}
	rest := 2 * pairs
	for i, at := range random.Perm(len(ids) - rest)[:pairs] { // in any order
		ids[rest+at], targets[rest+at] = known[i], given[i]
	}
	return pairs
}
