// Package run knows the runs of attention train: their folder, config.json, text and model. The commands that train,
// read and export models share it.
package run

import (
	"encoding/json"
	"errors"
	"fmt"

	"attention/internal/config"
	"attention/layers"
	"attention/layers/chapter"

	G "gorgonia.org/gorgonia"
)

// The names of the models, for --model.
const (
	LayerModel = "layer" // embeddings, one attention layer and a projection
	GPTModel   = "gpt"
)

// Model is a model that attention train can train: at every position of a window of tokens it scores the next one.
// T is the context, V the vocabulary.
type Model interface {
	fmt.Stringer     // name and sizes, for a report
	Title() string   // name, for a picture
	Context() int    // T
	Causal() bool    // whether it learns from every position, not from the last only
	Queries() string // part of the names of the parameters that make queries

	Params() *layers.Params
	// Forward maps ids, int (…, T), to logits (…, T, V).
	Forward(b *layers.Build, ids *G.Node) (*G.Node, error)
}

// Watchable is a model that returns its attention weights.
type Watchable interface {
	Model
	// Weights returns the attention weights (…, H, T, T) for ids.
	Weights(b *layers.Build, ids *G.Node) (*G.Node, error)
}

// ModelConfig is the config of one of the models: exactly one field is set. Its JSON is that field's.
type ModelConfig struct {
	Layer *chapter.LanguageModelConfig
	GPT   *layers.GPTConfig
}

// New makes the model and its parameters.
func (c ModelConfig) New(s layers.Scope) (Model, error) {
	if c.GPT != nil {
		m, err := layers.NewGPT(s, *c.GPT)
		return &gpt{m}, err
	}
	m, err := chapter.NewLanguageModel(s, *c.Layer)
	return &layer{m, *c.Layer}, err
}

// Name returns the name of the model.
func (c ModelConfig) Name() string {
	if c.GPT != nil {
		return GPTModel
	}
	return LayerModel
}

func (c ModelConfig) context() int {
	if c.GPT != nil {
		return c.GPT.ContextLength
	}
	return c.Layer.ContextLength
}

// Validate checks the model's config.
func (c ModelConfig) Validate() error {
	switch {
	case c.GPT != nil:
		return c.GPT.Validate()
	case c.Layer != nil:
		return c.Layer.Validate()
	}
	return errors.New("model: got none, want one")
}

// MarshalJSON encodes the field that is set.
func (c ModelConfig) MarshalJSON() ([]byte, error) {
	if c.GPT != nil {
		return json.Marshal(c.GPT)
	}
	return json.Marshal(c.Layer)
}

// UnmarshalJSON tells the models apart by the name of their width. A field that the model does not have is an error.
func (c *ModelConfig) UnmarshalJSON(text []byte) error {
	var gpt struct {
		Width *int `json:"n_embd"`
	}
	if err := json.Unmarshal(text, &gpt); err != nil {
		return err
	}
	if gpt.Width == nil {
		c.Layer = new(chapter.LanguageModelConfig)
		return config.Decode(text, c.Layer)
	}
	c.GPT = new(layers.GPTConfig)
	if err := config.Decode(text, new(gptFields)); err != nil {
		return err
	}
	return json.Unmarshal(text, c.GPT)
}

// gptFields is a GPTConfig without its decoder, which ignores other keys.
type gptFields layers.GPTConfig
