package generate

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"attention/graph"
	"attention/internal/config"
	"attention/layers"
)

// Config is how tokens are drawn. The zero value takes the most likely token each time.
type Config struct {
	Capacity int  // tokens of the text that a cache has room for; 0 means the model's ContextLength
	Slide    bool // a text longer than Capacity continues from its last Capacity/2 tokens; false means ErrFull
	// Precision of the model's products; see layers.Build.SetPrecision.
	Precision graph.Precision
	VocabSize int // only ids below it are drawn; 0 means all. A model may have more ids than its tokenizer

	Temperature float64 // scores are divided by it; 0 means the most likely token, always
	TopK        int     // only the TopK most likely tokens are drawn; 0 means all
	// TopP keeps the most likely tokens that together reach this probability (Holtzman et
	// al. 2020); 0 and 1 mean all.
	TopP float64
	Seed int64 // of the draws
}

// capacityOf returns the capacity of the cache of a model.
func (c Config) capacityOf(m *layers.Decoder) (int, error) {
	if m == nil {
		return 0, errors.New("model: got nil, want a decoder")
	}
	most := m.Config().ContextLength
	if c.Capacity < 0 || c.Capacity > most {
		return 0, config.Errorf(c, "Capacity", "got %d, want 0 to ContextLength=%d", c.Capacity, most)
	}
	return cmp.Or(c.Capacity, most), nil
}

// Validate returns an error that names the first wrong field.
func (c Config) Validate() error { return c.validate(math.MaxInt) }

// validate checks the config for a vocabulary of size V.
func (c Config) validate(vocab int) error {
	err := config.AtLeast(c, 0, "Capacity", "VocabSize", "Temperature", "TopK")
	switch {
	case err != nil:
	case c.VocabSize > vocab:
		err = config.Errorf(c, "VocabSize", "got %d, want 0 to the model's %d", c.VocabSize, vocab)
	case !(c.TopP >= 0 && c.TopP <= 1):
		err = config.Errorf(c, "TopP", "got %v, want a number from 0 to 1", c.TopP)
	}
	if err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	return nil
}
