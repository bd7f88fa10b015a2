package chapter

import (
	"cmp"
	"fmt"

	"attention/internal/dense"
	"attention/internal/expr"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Section is one part of the walk through the chapter, from dot products to multi-head
// attention in the size of GPT-2 small. Sections do not depend on each other: where the
// chapter continues a stream of random numbers, a section also draws the numbers before its
// own.
//
// Words, Seed, NumHeads and Dropout have the chapter's values and may be set before Run: Words and NumHeads unless they
// are zero, Seed if HasSeed is true, and Dropout if HasDropout is true.
type Section struct {
	Number int    // from 1, in the order of the walk
	Title  string // without the number
	Text   string // one sentence about the section
	Why    string // two or three sentences: the reason for the section's steps

	// Words are the section's tokens; nil if the tokens are random numbers. The chapter's words
	// have its vectors; the vector of any other word is drawn from the word and the seed.
	Words    []string
	Seed     int64   // torch.manual_seed before its weights; 0 in a section without random numbers
	NumHeads int     // of its layer; 0 in a section without heads
	Dropout  float64 // the probability of dropping a weight, as in training

	large bool        // whether its steps are too large, or too many, to be computed one by one
	layer Config      // the layer of the section
	drops bool        // whether its layer may have dropout
	own   *Section    // as Sections returned it
	build func(*walk) // builds the graph and shows parts of it; the build keeps the first error
}

// Step is one value that a section computes.
type Step struct {
	Name    string        `json:"name"`              // unique in its section: scores, or an expression such as keys.shape
	Formula string        `json:"formula,omitempty"` // of Name from other steps; empty for an input or expression
	Text    string        `json:"text"`              // one sentence about the value
	Value   *tensor.Dense `json:"-"`                 // of the section's type; a shape is a vector of ints, a count a scalar int
	Learnt  bool          `json:"learnt,omitempty"`  // whether the value is a parameter, which training changes

	Blocks  []string `json:"blocks,omitempty"`  // names of the first of three axes: sequences or heads; nil for none
	Rows    []string `json:"rows,omitempty"`    // names of the last but one axis, mostly tokens; nil for none
	Columns []string `json:"columns,omitempty"` // names of the last axis; nil for none

	// Exact computes the value from other steps and parts; nil for an input, for weights, and for a value that no Formula
	// can express. Part marks a step that Run does not print: see Trace.
	Exact *Formula `json:"exact,omitempty"`
	Part  bool     `json:"part,omitempty"`

	exact string // the text of Exact, if it differs from Formula
}

// Sections returns the walk in its order: the chapter's fifteen sections, one on where attention
// comes from, an experiment, the chapter's exercises, and what came after the book.
func Sections() []Section {
	sections := []Section{
		oneQuery, allQueries,
		stepByStep, fiveTokens, selfAttentionV1, selfAttentionV2, movedWeights,
		maskByZeros, maskByInfinity, dropout, causalAttention,
		headsSideBySide, splitProjection, multiHead, gpt2Small,
		additive,
		scaleExperiment,
		exerciseWeights, exerciseWidth, exerciseGPT2,
		groupedHeads, slidingWindow, linearState, deltaRule, latentKeys, twoSoftmaxes,
		sigmoidWeights, forgetting, chosenBlocks,
	}
	for i := range sections {
		s := &sections[i]
		s.Number = i + 1
		own := *s
		s.own = &own
	}
	return sections
}

// Run computes the section's steps with numbers of type dt, tensor.Float32 or
// tensor.Float64. The two types draw different weights.
func (s Section) Run(dt tensor.Dtype) ([]Step, error) { return s.compute(dt, false, nil) }

// Trace computes the section's steps as Run does and, between them, its parts: inputs, weights
// and intermediate values, so that each step's formula can be computed from other steps.
// values replaces the values of inputs and weights by name; nil replaces none.
func (s Section) Trace(dt tensor.Dtype, values map[string][]float64) ([]Step, error) {
	return s.compute(dt, true, values)
}

func (s Section) compute(dt tensor.Dtype, parts bool, values map[string][]float64) ([]Step, error) {
	if !dense.IsFloat(dt) {
		return nil, fmt.Errorf("chapter: section %d: type: got %v, want float32 or float64",
			s.Number, dense.TypeName(dt))
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	w := newWalk(dt, s, values)
	if err := expr.Building(func() error { return w.compute(parts) }); err != nil {
		return nil, fmt.Errorf("chapter: section %d: %w", s.Number, err)
	}
	return w.steps, nil
}

func (w *walk) compute(parts bool) error {
	w.section.build(w)
	if err := cmp.Or(w.Err(), w.finish()); err != nil {
		return err
	}
	if !parts {
		w.removeParts()
	}
	return w.run()
}

// HasSeed reports whether Seed changes the section.
func (s Section) HasSeed() bool { return s.own.Seed != 0 || s.own.Words != nil }

// HasDropout reports whether Dropout changes the section.
func (s Section) HasDropout() bool { return s.own.Dropout != 0 || s.drops }

// Layer returns the layer of the section; zero if the section shows single steps.
func (s Section) Layer() Config {
	c := s.layer
	if s.drops {
		c.Dropout = s.Dropout
	}
	if c.NumHeads == 0 {
		return c
	}
	if c.OutDim == c.NumHeads && c.Layer == "multi_head" { // heads of width 1
		c.OutDim = s.NumHeads
	}
	c.NumHeads = s.NumHeads
	return c
}

// Graph builds the section's layer of one op for each step of attention, on a sequence x as long as its words or of
// 1024 tokens, and returns the layer's output.
func (s Section) Graph() (b *layers.Build, out *G.Node, err error) {
	c, mode := s.Layer(), layers.Eval
	if c.Dropout > 0 {
		mode = layers.Train
	}
	b = layers.NewBuild(layers.NewParams(tensor.Float32, s.Seed), mode)
	b.Compose("*")
	layer, err := New(b.Params().Scope(""), c)
	if err != nil {
		return nil, nil, err
	}
	t := cmp.Or(len(s.Words), 1024)
	out = b.Of(layer.Forward(b, b.Input("x", t, max(c.EmbedDim, c.KeyDim))))
	return b, out, b.Err()
}
