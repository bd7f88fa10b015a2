package chapter

import (
	"errors"
	"fmt"

	"attention/internal/dense"

	"gorgonia.org/tensor"
)

// Section is one part of the walk through the chapter, from dot products to multi-head
// attention in the size of GPT-2 small. Each stands for itself: where the chapter
// continues a stream of random numbers, a section draws again what comes before its own.
type Section struct {
	Number int    // from 1, in the order of the walk
	Title  string // without the number
	Text   string // a sentence on the whole section
	Seed   int64  // torch.manual_seed before its weights; 0 in a section that draws none

	build func(*walk) error // builds the graph and shows parts of it
}

// Step is one value that a section computes.
type Step struct {
	Name    string        // unique in its section: scores, or an expression such as keys.shape
	Formula string        // what Name is, in terms of other names; empty for an input and an expression
	Text    string        // a sentence on the value
	Value   *tensor.Dense // of the section's type; a shape is a vector of ints, a count a scalar int
}

// Sections returns the walk in its order.
func Sections() []Section {
	sections := []Section{
		oneQuery, allQueries,
		stepByStep, fiveTokens, selfAttentionV1, selfAttentionV2, movedWeights,
		maskByZeros, maskByInfinity, dropout, causalAttention,
		headsSideBySide, splitProjection, multiHead, gpt2Small,
		additive,
	}
	for i := range sections {
		sections[i].Number = i + 1
	}
	return sections
}

// Run computes the section's steps with numbers of type dt, tensor.Float32 or
// tensor.Float64, for which other weights are drawn.
func (s Section) Run(dt tensor.Dtype) ([]Step, error) {
	if dt != tensor.Float32 && dt != tensor.Float64 {
		return nil, fmt.Errorf("chapter: section %d: type: got %v, want float32 or float64",
			s.Number, dense.TypeName(dt))
	}
	if s.build == nil {
		return nil, errors.New("chapter: section: got its zero value, want one of Sections")
	}
	w := newWalk(dt, s.Seed)
	err := s.build(w)
	if err == nil {
		err = w.run()
	}
	if err != nil {
		return nil, fmt.Errorf("chapter: section %d: %w", s.Number, err)
	}
	return w.steps, nil
}
