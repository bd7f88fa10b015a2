package why

import (
	"math/rand/v2"

	"attention/graph"
	"attention/layers"
	"attention/train"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

const (
	letters  = "abcdefghij"
	endMark  = len(letters) // after a string, before its reverse
	vocab    = len(letters) + 1
	shortest = 5
	longest  = 40
)

// The inputs of a model that reverses.
const (
	sourceInput  = "source"  // (B, S) ids of the string, the end mark, then padding
	lengthsInput = "lengths" // (B) of the sources without padding
	targetInput  = "target"  // (B, T) the end mark, then the reverse without its last letter
	targetsInput = "targets" // (B, T) the reverse, or graph.IgnoreTarget beyond it
)

// stringBatch is a batch of strings whose memory is reused.
type stringBatch struct {
	random                           *rand.Rand
	batch                            train.Batch
	source, lengths, target, targets []int
}

func newStringBatch(size int, random *rand.Rand) *stringBatch {
	in := train.Values{}
	ids := func(name string, shape ...int) []int {
		in[name] = tensor.New(tensor.Of(tensor.Int), tensor.WithShape(shape...))
		return in[name].Ints()
	}
	return &stringBatch{
		random: random, batch: train.Batch{Inputs: in},
		source: ids(sourceInput, size, longest+1), lengths: ids(lengthsInput, size),
		target: ids(targetInput, size, longest), targets: ids(targetsInput, size, longest),
	}
}

// Next draws strings of all lengths. Half of them are the longer of two: long strings have more to learn from, and cost
// the same.
func (b *stringBatch) Next() (train.Batch, error) {
	const lengths = longest - shortest + 1
	b.draw(func() int {
		n := b.random.IntN(lengths)
		if b.random.IntN(2) > 0 {
			n = max(n, b.random.IntN(lengths))
		}
		return shortest + n
	})
	return b.batch, nil
}

// draw draws strings of the lengths that length returns.
func (b *stringBatch) draw(length func() int) {
	clear(b.source)
	clear(b.target)
	for i := range b.targets {
		b.targets[i] = graph.IgnoreTarget
	}
	b.batch.Tokens = 0
	for row := range b.lengths {
		n := length()
		source, target, targets := b.source[row*(longest+1):], b.target[row*longest:], b.targets[row*longest:]
		for i := range n {
			source[i] = b.random.IntN(len(letters))
			targets[n-1-i] = source[i]
		}
		source[n], target[0] = endMark, endMark
		copy(target[1:n], targets)
		b.lengths[row] = n + 1
		b.batch.Tokens += n
	}
}

// stringInputs makes a model's inputs in a graph.
func stringInputs(b *layers.Build, size int) (source, target, lengths, targets *G.Node) {
	return b.InputOf(tensor.Int, sourceInput, size, longest+1), b.InputOf(tensor.Int, targetInput, size, longest),
		b.InputOf(tensor.Int, lengthsInput, size), b.InputOf(tensor.Int, targetsInput, size, longest)
}

// spell returns ids as letters, and the end mark as $.
func spell(ids []int) string {
	text := make([]byte, len(ids))
	for i, id := range ids {
		text[i] = (letters + "$")[id]
	}
	return string(text)
}

// drawEach draws a string of each length.
func (b *stringBatch) drawEach(lengths []int) {
	next := 0
	b.draw(func() int { next++; return lengths[next-1] })
}

// row returns string i and its reverse.
func (b *stringBatch) row(i int) (text, reverse string) {
	n := b.lengths[i] - 1
	return spell(b.source[i*(longest+1):][:n]), spell(b.targets[i*longest:][:n])
}
