// Package lookback has two tasks that show how far, and at how much, an attention can look back: letters to be copied
// from a distance, and keys to be answered with the values that they came with. The measure is how often a model is
// right, by the distance or by the number of pairs.
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
	// Copy is blanks, a mark, letters that differ, blanks, the mark and the letters again. The model is asked for the
	// letters after the second mark.
	Copy Task = "copy"
	// Recall is multi-query associative recall (Arora et al. 2023): pairs of a key and a value, then each key once more
	// with blanks around it. At these keys the model is asked for their values.
	Recall Task = "recall"
)

// Context is T, the tokens of a sequence.
const Context = 64

// The ids of Copy.
const (
	copied  = 8  // letters of a sequence
	letters = 16 // ids from 0 on
	space   = letters
	mark    = space + 1
)

// The ids of Recall.
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

// write writes a sequence of a level to ids and its answers to targets, whose other elements stay. It returns the
// number of answers.
func (t Task) write(ids, targets []int, level int, random *rand.Rand) int {
	if t == Copy {
		return writeCopy(ids, targets, level, random)
	}
	return writeRecall(ids, targets, level, random)
}

// writeCopy writes blanks, the mark, the letters, blanks, the mark and all letters but the last.
func writeCopy(ids, targets []int, distance int, random *rand.Rand) int {
	for i := range ids {
		ids[i] = space
	}
	text := random.Perm(letters)[:copied]
	again := len(ids) - copied // where the first letter is asked for
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
