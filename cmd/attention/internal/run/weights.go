package run

import (
	"errors"
	"fmt"

	"attention/layers"
	"attention/train/text"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// AttentionWeights returns the attention weights ([H,] T, T) of the model over ids, int (T), by the paths of its
// layers. It begins the build.
func (m Model) AttentionWeights(b *layers.Build, ids *G.Node) (map[string]*G.Node, error) {
	b.Of(m.Forward(b, ids))
	nodes := map[string]*G.Node{}
	for _, call := range b.Calls("*") {
		nodes[call.Path] = b.Of(call.Weights())
	}
	for _, call := range b.LinearCalls("*") { // what their states imply
		nodes[call.Path] = b.Of(call.Weights())
	}
	if w, ok := m.Network.(AttentionNetwork); ok && len(nodes) == 0 {
		nodes["attention"] = b.Of(w.Weights(b, ids)) // of a layer without an Attention, as the simple one
	}
	if err := b.Err(); err != nil {
		return nil, err
	}
	if len(nodes) == 0 {
		return nil, errors.New("got a model without attention, want one with")
	}
	return nodes, nil
}

// Copy returns the config's model with its tokenizer and a copy of weights, which may change afterwards.
func (c Config) Copy(weights *layers.Params, t text.Tokenizer) (*OpenModel, error) {
	m, err := c.open(t)
	if err != nil {
		return nil, err
	}
	for name, value := range m.Model.Params().All() {
		of, ok := weights.Get(name)
		if !ok {
			return nil, fmt.Errorf("weights: got no %s, want all of the model's", name)
		}
		if err := tensor.Copy(value, of); err != nil {
			return nil, fmt.Errorf("weights: %s: %w", name, err)
		}
	}
	return m, nil
}
