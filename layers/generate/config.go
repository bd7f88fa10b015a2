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

// Config is how tokens are drawn. The zero value always picks the most likely token.
type Config struct {
	Capacity int // largest number of tokens in the cache; 0 means the model's ContextLength
	// Room is the number of tokens for which the cache has memory at first. When more come, the memory doubles, up to
	// Capacity; 0, or more than Capacity, means Capacity.
	Room  int
	Slide bool // a text longer than Capacity continues from its last Capacity/2 tokens; false means ErrFull
	// Precision of the model's products; see layers.Build.SetPrecision.
	Precision graph.Precision
	VocabSize int // only ids below it are drawn; 0 means all. A model may have more ids than its tokenizer

	Temperature float64 // scores are divided by it; 0 means the most likely token, always
	TopK        int     // only the TopK most likely tokens are drawn; 0 means all
	// TopP keeps the most likely tokens that together reach this probability (Holtzman et
	// al. 2020); 0 and 1 mean all.
	TopP float64
	// MinP keeps the tokens that have at least this share of the most likely one's probability
	// (Nguyen et al. 2024); 0 means all.
	MinP float64
	// RepetitionPenalty lowers the scores of tokens that are already in the text: it divides positive scores and
	// multiplies negative ones (Keskar et al. 2019); 0 and 1 mean no change.
	RepetitionPenalty float64
	Seed              int64 // of the draws
}

// cacheOf returns the config of a model's cache for n texts.
func (c Config) cacheOf(m *layers.Decoder, n int) (size graph.KVCacheConfig, err error) {
	if m == nil {
		return size, errors.New("model: got nil, want a decoder")
	}
	most := m.Config().ContextLength
	if c.Capacity < 0 || c.Capacity > most {
		return size, config.Errorf(c, "Capacity", "got %d, want 0 to ContextLength=%d", c.Capacity, most)
	}
	capacity := cmp.Or(c.Capacity, most)
	return graph.KVCacheConfig{Batch: n, Capacity: capacity, Room: min(c.Room, capacity), Windows: n == 1},
		c.validate(m.Config().VocabSize)
}

// Validate returns an error that names the first wrong field.
func (c Config) Validate() error {
	if err := c.validate(math.MaxInt); err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	return nil
}

// validate checks the config for a vocabulary of size V.
func (c Config) validate(vocab int) error {
	err := config.AtLeast(c, 0, "Capacity", "Room", "VocabSize", "Temperature", "TopK",
		"RepetitionPenalty")
	switch {
	case err != nil:
	case c.VocabSize > vocab:
		err = config.Errorf(c, "VocabSize", "got %d, want 0 to the model's %d", c.VocabSize, vocab)
	case !(c.TopP >= 0 && c.TopP <= 1):
		err = config.Errorf(c, "TopP", "got %v, want a number from 0 to 1", c.TopP)
	case !(c.MinP >= 0 && c.MinP <= 1):
		err = config.Errorf(c, "MinP", "got %v, want a number from 0 to 1", c.MinP)
	}
	return err
}
