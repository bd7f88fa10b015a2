package run

import (
	"attention/layers"
	"attention/layers/generate"
)

// NewGenerator returns a generator of a text of up to length tokens. A GPT's text that outgrows its positions continues
// from its last half window.
func NewGenerator(p *layers.Params, m Model, c generate.Config, length int) (*generate.Generator, error) {
	if gpt, ok := m.(*gpt); ok {
		c.Capacity, c.Slide = min(length, m.Context()), true
		return generate.New(p, gpt.model, c)
	}
	return generate.NewWithoutCache(p, m.Forward, m.Context(), c)
}
