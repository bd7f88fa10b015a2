package reversal

import (
	"math/rand/v2"

	"attention/graph"
	"attention/train"
	"attention/train/tasks"
)

// The strings of the task.
const (
	Letters  = "abcdefghij"
	Shortest = 5
	Longest  = 40 // T, and S without the end mark

	endMark = len(Letters) // after a string, and before its reverse
	vocab   = len(Letters) + 1
)

// Names of a model's inputs.
const (
	sourceInput  = "source"  // (B, S) ids of the string, the end mark, then padding
	lengthsInput = "lengths" // (B) of the sources without padding
	targetInput  = "target"  // (B, T) the end mark, then the reverse without its last letter
	targetsInput = "targets" // (B, T) the reverse, or graph.IgnoreTarget beyond it
)

// Strings is an endless source of batches of random strings and their reverses. The memory of a batch is reused.
type Strings struct {
	random                           *rand.Rand
	batch                            train.Batch
	source, lengths, target, targets []int // the batch's inputs
}

// NewStrings returns a source of batches of size strings.
func NewStrings(size int, random *rand.Rand) *Strings {
	in := train.Values{}
	return &Strings{
		random: random, batch: train.Batch{Inputs: in},
		source: tasks.Ids(in, sourceInput, size, Longest+1), lengths: tasks.Ids(in, lengthsInput, size),
		target: tasks.Ids(in, targetInput, size, Longest), targets: tasks.Ids(in, targetsInput, size, Longest),
	}
}

// Next draws strings of all lengths. Half of them are the longer of two drawn lengths: long strings have more to teach
// and cost the same.
func (s *Strings) Next() (train.Batch, error) {
	const lengths = Longest - Shortest + 1
	s.draw(func(int) int {
		n := s.random.IntN(lengths)
		if s.random.IntN(2) > 0 {
			n = max(n, s.random.IntN(lengths))
		}
		return Shortest + n
	})
	return s.batch, nil
}

// Draw draws a batch with a string of each length, from Shortest to Longest.
func (s *Strings) Draw(lengths []int) { s.draw(func(row int) int { return lengths[row] }) }

// draw draws a batch of strings; length returns the length of each.
func (s *Strings) draw(length func(row int) int) {
	s.batch.Tokens = 0
	for row := range s.lengths {
		s.set(row, length(row), func(int) int { return s.random.IntN(len(Letters)) })
		s.batch.Tokens += s.lengths[row] - 1
	}
}

// set writes a random string of n letters to a row of the batch.
func (s *Strings) set(row, n int, letter func(i int) int) {
	source, target, targets := s.source[row*(Longest+1):][:Longest+1], s.target[row*Longest:][:Longest],
		s.targets[row*Longest:][:Longest]
	clear(source)
	clear(target)
	for i := range targets {
		targets[i] = graph.IgnoreTarget
	}
	for i := range n {
		source[i] = letter(i)
		targets[n-1-i] = source[i]
	}
	source[n], target[0] = endMark, endMark
	copy(target[1:n], targets)
	s.lengths[row] = n + 1
}

// Row returns string i of the batch and its reverse.
func (s *Strings) Row(i int) (text, reverse string) {
	n := s.lengths[i] - 1
	return spell(s.source[i*(Longest+1):][:n]), spell(s.targets[i*Longest:][:n])
}

// spell returns ids as letters, and the end mark as $.
func spell(ids []int) string {
	text := make([]byte, len(ids))
	for i, id := range ids {
		text[i] = (Letters + "$")[id]
	}
	return string(text)
}
