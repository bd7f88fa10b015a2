package settings

import (
	"encoding/json"
	"fmt"

	"attention/internal/config"
	"attention/layers"
	"attention/layers/chapter"
)

// The types of models, for --model.
const (
	LayerModel   = "layer" // embeddings, one attention layer and a projection
	GPTModel     = "gpt"
	DecoderModel = "decoder" // blocks that JSON puts together
	DatesModel   = "dates"   // of attention translate
	EncoderModel = "encoder" // of attention finetune alone
)

// The types of schedules in JSON.
const (
	constantSchedule = "constant"
	cosineSchedule   = "cosine"
	wsdSchedule      = "wsd"
)

// ModelConfig is the config of one of the models: exactly one pointer is set. Its JSON is that field's plus the type; a
// GPT's has its Parts, too.
type ModelConfig struct {
	Layer   *chapter.LanguageModelConfig
	GPT     *layers.GPTConfig
	Parts   Parts // of the GPT
	Decoder *layers.DecoderConfig
	Dates   *Dates
	Encoder *layers.EncoderConfig
}

// ModelOf returns the config of a decoder: a GPT's if it is one.
func ModelOf(c layers.DecoderConfig) ModelConfig {
	if g, ok := c.GPT(); ok {
		return ModelConfig{GPT: &g}
	}
	return ModelConfig{Decoder: &c}
}

// New makes the model and its parameters.
func (c ModelConfig) New(s layers.Scope) (Model, error) {
	if c.GPT != nil && c.Parts == (Parts{}) {
		m, err := layers.NewGPT(s, *c.GPT)
		return Model{c, m}, err
	}
	if d, ok := c.Blocks(); ok {
		m, err := layers.NewDecoder(s, d)
		return Model{c, m}, err
	}
	if c.Encoder != nil {
		return Model{}, config.Errorf(c, "", "got an encoder, want a model that continues texts")
	}
	m, err := chapter.NewLanguageModel(s, *c.Layer)
	return Model{c, m}, err
}

// Blocks returns the config of a model of blocks as a decoder's, and whether it is one.
func (c ModelConfig) Blocks() (d layers.DecoderConfig, ok bool) {
	switch {
	case c.Decoder != nil:
		return *c.Decoder, true
	case c.GPT != nil:
		return c.Parts.of(*c.GPT), true
	}
	return d, false
}

// Type returns the type of the model.
func (c ModelConfig) Type() string {
	switch {
	case c.Encoder != nil:
		return EncoderModel
	case c.Decoder != nil:
		return DecoderModel
	case c.GPT != nil:
		return GPTModel
	case c.Dates != nil:
		return DatesModel
	}
	return LayerModel
}

// value returns the config of the one model.
func (c ModelConfig) value() any {
	switch {
	case c.Encoder != nil:
		return *c.Encoder
	case c.Decoder != nil:
		return *c.Decoder
	case c.GPT != nil:
		return gptFields{*c.GPT, c.Parts}
	case c.Dates != nil:
		return *c.Dates
	}
	return *c.Layer
}

// withVocabulary returns the config with room for at least n tokens: its own number, or n if that is 0.
func (c ModelConfig) withVocabulary(n int, unit string) (ModelConfig, error) {
	var room *int
	c = c.clone()
	switch {
	case c.Encoder != nil:
		room = &c.Encoder.VocabSize
	case c.Decoder != nil:
		room = &c.Decoder.VocabSize
	case c.GPT != nil:
		room = &c.GPT.VocabSize
	default:
		room = &c.Layer.VocabSize
	}
	if *room == 0 {
		*room = n
	}
	if *room >= 0 && *room < n {
		return c, config.Errorf(c.value(), "VocabSize", "got %d, want at least the %d %s of the tokenizer", *room, n, unit)
	}
	return c, nil
}

// clone returns a config whose fields may be set.
func (c ModelConfig) clone() ModelConfig {
	switch {
	case c.Encoder != nil:
		c.Encoder = new(*c.Encoder)
	case c.Decoder != nil:
		c.Decoder = new(*c.Decoder)
	case c.GPT != nil:
		c.GPT = new(*c.GPT)
	case c.Layer != nil:
		c.Layer = new(*c.Layer)
	}
	return c
}

// Validate returns an error for the first wrong field.
func (c ModelConfig) Validate() error {
	switch {
	case c.Encoder != nil:
		return c.Encoder.Validate()
	case c.Decoder != nil:
		return c.Decoder.Validate()
	case c.GPT != nil:
		if err := c.GPT.Validate(); err != nil {
			return err
		}
		return gptFields{*c.GPT, c.Parts}.validate()
	case c.Dates != nil:
		return c.Dates.validate()
	case c.Layer == nil:
		return config.Errorf(c, "", "got none, want one of type %s, %s or %s", LayerModel, GPTModel, DecoderModel)
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
	model := any(c.Layer)
	if c.GPT != nil {
		model = c.GPT
	} else if c.Decoder != nil {
		model = c.Decoder
	} else if c.Dates != nil {
		model = c.Dates
	} else if c.Encoder != nil {
		model = c.Encoder
	}
	text, err := json.Marshal(model)
	if err != nil {
		return nil, err
	}
	text = append(fmt.Appendf(nil, `{"type":%q,`, c.Type()), text[1:]...)
	if c.Parts == (Parts{}) {
		return text, nil
	}
	parts, err := json.Marshal(c.Parts)
	return append(append(text[:len(text)-1], ','), parts[1:]...), err
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
		*c = ModelConfig{GPT: new(layers.GPTConfig)}
		return config.Decode(text, &head, c.GPT, &c.Parts)
	case DecoderModel:
		*c = ModelConfig{Decoder: new(layers.DecoderConfig)}
		return config.Decode(text, &head, c.Decoder)
	case EncoderModel:
		*c = ModelConfig{Encoder: new(layers.EncoderConfig)}
		return config.Decode(text, &head, c.Encoder)
	case DatesModel:
		*c = ModelConfig{Dates: new(Dates)}
		return config.Decode(text, &head, c.Dates)
	case "":
		return config.Decode(text, &struct{}{}) // a part of a config may leave out the model
	}
	return config.JSON(config.OneOf(head, "Type", head.Type, LayerModel, GPTModel, DecoderModel))
}
