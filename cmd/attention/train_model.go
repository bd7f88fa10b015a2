package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"attention/internal/jsonkeys"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// Names of models, for --model.
const (
	layerName = "layer" // embeddings, one attention layer and a projection
	gptName   = "gpt"
)

// textModel is a model that attention train can train: at every position of a window
// of tokens it scores the next one. T is the context, V the vocabulary.
type textModel interface {
	fmt.Stringer     // name and sizes, for a report
	title() string   // name, for a picture
	context() int    // T
	vocab() int      // V
	causal() bool    // whether it learns from every position, not from the last only
	queries() string // part of the names of the parameters that make queries

	// forward maps ids, int (…, T), to logits (…, T, V).
	forward(b *layers.Build, ids *G.Node) (*G.Node, error)
}

// watchable is a model whose attention weights can be looked at.
type watchable interface {
	textModel
	// forwardWithWeights also returns attention weights, (…, [H,] T, T).
	forwardWithWeights(b *layers.Build, ids *G.Node) (logits, weights *G.Node, err error)
}

// modelConfig is the config of one of the models: just one field is set. Its JSON is
// that field's.
type modelConfig struct {
	layer *layers.LanguageModelConfig
	gpt   *layers.GPTConfig
}

// new makes the model's parameters.
func (c modelConfig) new(s layers.Scope) (textModel, error) {
	if c.gpt != nil {
		m, err := layers.NewGPT(s, *c.gpt)
		return &gptModel{m}, err
	}
	m, err := layers.NewLanguageModel(s, *c.layer)
	return &layerModel{m, *c.layer}, err
}

func (c modelConfig) name() string {
	if c.gpt != nil {
		return gptName
	}
	return layerName
}

func (c modelConfig) context() int {
	if c.gpt != nil {
		return c.gpt.Context
	}
	return c.layer.Context
}

func (c modelConfig) validate() error {
	switch {
	case c.gpt != nil:
		return c.gpt.Validate()
	case c.layer != nil:
		return c.layer.Validate()
	}
	return errors.New("model: got none, want one")
}

func (c modelConfig) MarshalJSON() ([]byte, error) {
	if c.gpt != nil {
		return json.Marshal(c.gpt)
	}
	return json.Marshal(c.layer)
}

// UnmarshalJSON tells the models apart by the name of their width and refuses fields
// that the model does not have.
func (c *modelConfig) UnmarshalJSON(text []byte) error {
	var gpt struct {
		Width *int `json:"n_embd"`
	}
	if err := json.Unmarshal(text, &gpt); err != nil {
		return err
	}
	if gpt.Width == nil {
		c.layer = new(layers.LanguageModelConfig)
		return strictJSON(text, c.layer)
	}
	c.gpt = new(layers.GPTConfig)
	if err := strictJSON(text, new(gptFields)); err != nil {
		return err
	}
	return json.Unmarshal(text, c.gpt)
}

// gptFields have the keys of a GPTConfig's JSON; its own reader passes over others.
type gptFields struct {
	gptConfig
	Tie  *bool `json:"tie_word_embeddings"`
	Bias *bool `json:"bias"`
}

type gptConfig layers.GPTConfig

// strictJSON reads an object whose keys all have to be fields, each once.
func strictJSON(text []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	return jsonkeys.Unique(text)
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

func (m *layerModel) title() string   { return m.config.Attention.Layer }
func (m *layerModel) context() int    { return m.config.Context }
func (m *layerModel) vocab() int      { return m.config.Vocab }
func (m *layerModel) causal() bool    { return m.config.Attention.Causal() }
func (m *layerModel) queries() string { return "W_query" }

func (m *layerModel) forward(b *layers.Build, ids *G.Node) (*G.Node, error) {
	return m.model.Forward(b, ids)
}

func (m *layerModel) forwardWithWeights(b *layers.Build, ids *G.Node) (logits, weights *G.Node, err error) {
	return m.model.ForwardWithWeights(b, ids)
}
