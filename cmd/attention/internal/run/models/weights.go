package models

import (
	"fmt"

	"attention/cmd/attention/internal/run/settings"
	"attention/layers"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// Copy returns the config's model with its tokenizer and a copy of weights, which may change afterwards.
func Copy(c settings.Config, weights *layers.Params, t text.Tokenizer) (*OpenModel, error) {
	m, err := openConfig(c, t)
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
