package run

import (
	"attention/layers"
	"attention/layers/generate"
)

// NewGenerator returns a generator of a text of up to length tokens. A GPT's text that outgrows its positions continues
// from its last half window.
func NewGenerator(m Model, c generate.Config, length int) (*generate.Generator, error) {
	if gpt, ok := m.Network.(*layers.GPT); ok {
		c.Capacity, c.Slide = min(length, m.Context()), true
		return generate.New(gpt, c)
	}
	return generate.NewWithoutCache(m, m.Context(), c)
}
