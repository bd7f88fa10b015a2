package main

import (
	"fmt"

	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// textModel is a model that attention train can train: at every position of a window
// of tokens it scores the next one. T is the context, V the vocabulary.
type textModel interface {
	fmt.Stringer   // name and sizes, for a report
	title() string // name, for a picture
	context() int  // T
	vocab() int    // V
	causal() bool  // whether it learns from every position, not from the last only

	// forward maps ids, int (…, T), to logits (…, T, V).
	forward(b *layers.Build, ids *G.Node) (*G.Node, error)
	// forwardWithWeights also returns attention weights, (…, [H,] T, T).
	forwardWithWeights(b *layers.Build, ids *G.Node) (logits, weights *G.Node, err error)
}

// newTextModel makes the model's parameters.
func newTextModel(s layers.Scope, c layers.LanguageModelConfig) (textModel, error) {
	m, err := layers.NewLanguageModel(s, c)
	if err != nil {
		return nil, err
	}
	return &layerModel{m, c}, nil
}

// layerModel is the model around one attention layer.
type layerModel struct {
	model  *layers.LanguageModel
	config layers.LanguageModelConfig
}

func (m *layerModel) String() string {
	text := m.title()
	if n := m.config.Attention.NumHeads; n > 0 {
		text += fmt.Sprintf(", %d heads", n)
	}
	text += fmt.Sprintf(", width %d", m.config.Width)
	if p := m.config.Attention.Dropout; p > 0 {
		text += fmt.Sprintf(", dropout %v", p)
	}
	return text
}

func (m *layerModel) title() string { return m.config.Attention.Layer }
func (m *layerModel) context() int  { return m.config.Context }
func (m *layerModel) vocab() int    { return m.config.Vocab }
func (m *layerModel) causal() bool  { return m.config.Attention.Causal() }

func (m *layerModel) forward(b *layers.Build, ids *G.Node) (*G.Node, error) {
	return m.model.Forward(b, ids)
}

func (m *layerModel) forwardWithWeights(b *layers.Build, ids *G.Node) (logits, weights *G.Node, err error) {
	return m.model.ForwardWithWeights(b, ids)
}
