// Package run describes the runs of attention train: their config, the flags and files it is built from, their text
// and model. The commands that train, read and export models share it.
package run

import (
	"encoding/json"
	"fmt"

	"attention/internal/config"
	"attention/layers"
	"attention/layers/chapter"
)

// The types of models, for --model.
const (
	LayerModel = "layer" // embeddings, one attention layer and a projection
	GPTModel   = "gpt"
)

// DatesModel is the type of the model of attention translate, whose config.json holds settings of its own.
const DatesModel = "dates"

// The types of schedules in JSON.
const (
	constantSchedule = "constant"
	cosineSchedule   = "cosine"
)

// ModelConfig is the config of one of the models: exactly one field is set. Its JSON is that field's plus the type.
type ModelConfig struct {
	Layer *chapter.LanguageModelConfig
	GPT   *layers.GPTConfig
}

// New makes the model and its parameters.
func (c ModelConfig) New(s layers.Scope) (Model, error) {
	if c.GPT != nil {
		m, err := layers.NewGPT(s, *c.GPT)
		return Model{c, m}, err
	}
	m, err := chapter.NewLanguageModel(s, *c.Layer)
	return Model{c, m}, err
}

// Type returns the type of the model.
func (c ModelConfig) Type() string {
	if c.GPT != nil {
		return GPTModel
	}
	return LayerModel
}

// value returns the config of the one model.
func (c ModelConfig) value() any {
	if c.GPT != nil {
		return *c.GPT
	}
	return *c.Layer
}

// withVocabulary returns the config with room for at least n tokens: its own number, or n if that is 0.
func (c ModelConfig) withVocabulary(n int, unit string) (ModelConfig, error) {
	var model any
	var room *int
	if c.GPT != nil {
		m := *c.GPT
		c.GPT, model, room = &m, m, &m.VocabSize
	} else {
		m := *c.Layer
		c.Layer, model, room = &m, m, &m.VocabSize
	}
	if *room == 0 {
		*room = n
	}
	if *room >= 0 && *room < n {
		return c, config.Errorf(model, "VocabSize", "got %d, want at least the %d %s of the tokenizer", *room, n, unit)
	}
	return c, nil
}

// Validate returns an error for the first wrong field.
func (c ModelConfig) Validate() error {
	switch {
	case c.GPT != nil:
		return c.GPT.Validate()
	case c.Layer == nil:
		return config.Errorf(c, "", "got none, want one of type %s or %s", LayerModel, GPTModel)
	}
	m := *c.Layer
	a := m.Attention
	if a.Dropout > 0 && !a.Uses("Dropout") {
		return config.Errorf(m, "Attention.Dropout", "got %v, want 0 with %s=%s, which has no dropout",
			a.Dropout, config.Field("Attention.Layer"), a.Layer)
	}
	if a.Uses("NumHeads") && a.NumHeads > 0 && m.EmbedDim%a.NumHeads != 0 {
		return config.Errorf(m, "Attention.NumHeads", "got %d, want a divisor of %s=%d",
			a.NumHeads, config.Field("EmbedDim"), m.EmbedDim)
	}
	return m.Validate()
}

// MarshalJSON writes the type and the fields of the model.
func (c ModelConfig) MarshalJSON() ([]byte, error) {
	if c == (ModelConfig{}) {
		return []byte("{}"), nil
	}
	text, err := json.Marshal(c.value())
	if err != nil {
		return nil, err
	}
	return append(fmt.Appendf(nil, `{"type":%q,`, c.Type()), text[1:]...), nil
}

// UnmarshalJSON replaces the model with the one of the type.
func (c *ModelConfig) UnmarshalJSON(text []byte) error {
	var head struct {
		Type string `json:"type"`
	}
	if err := config.Foreign.Decode(text, &head); err != nil {
		return err
	}
	switch head.Type {
	case LayerModel:
		*c = ModelConfig{Layer: new(chapter.LanguageModelConfig)}
		return config.Decode(text, &head, c.Layer)
	case GPTModel:
		type strict layers.GPTConfig // whose own decoder ignores other keys, which GPT-2's files have
		var m strict
		if err := config.Decode(text, &head, &m); err != nil {
			return err
		}
		*c = ModelConfig{GPT: (*layers.GPTConfig)(&m)}
		return nil
	case DatesModel:
		return config.JSON(config.Errorf(head, "Type", "got %q, that of attention translate, want one of %s, %s",
			head.Type, LayerModel, GPTModel))
	case "":
		return config.Decode(text, &struct{}{}) // a part of a config may leave out the model
	}
	return config.JSON(config.OneOf(head, "Type", head.Type, LayerModel, GPTModel))
}
