package models

import (
	"fmt"

	"attention/cmd/attention/internal/run/settings"
	"attention/layers"
	"attention/layers/generate"
)

// NewGenerator returns a generator that at first has memory for a text of up to length tokens. A decoder's text that
// outgrows its positions, or c.Capacity, continues from its last half window.
func NewGenerator(m settings.Model, c generate.Config, length int) (*generate.Generator, error) {
	if decoder, ok := m.Network.(*layers.Decoder); ok {
		c.Room, c.Slide = length, true
		return generate.New(decoder, c)
	}
	return generate.NewWithoutCache(m, m.Context(), c)
}

// NewBatch is NewGenerator for several texts of up to length tokens each, of a decoder.
func NewBatch(m settings.Model, texts int, c generate.Config, length int) (*generate.Batch, error) {
	decoder, ok := m.Network.(*layers.Decoder)
	if !ok {
		return nil, fmt.Errorf("got %d texts of a model of one layer, want one: only a GPT continues several at once",
			texts)
	}
	c.Room, c.Slide = length, true
	return generate.NewBatch(decoder, texts, c)
}
