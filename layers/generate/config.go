package generate

import (
	"fmt"
	"math"
)

// Config says how tokens are drawn. The zero value takes the most likely token each
// time.
type Config struct {
	Capacity  int  // tokens of the text that a cache has room for; 0 means the model's Context
	Slide     bool // a text longer than Capacity goes on from its last Capacity/2 tokens, read anew; false means ErrFull
	VocabSize int  // ids that may be drawn are below it; 0 means all. A model may have more than its tokenizer

	Temperature float64 // scores are divided by it; 0 means the most likely token, always
	TopK        int     // only that many of the most likely tokens are drawn; 0 means all
	TopP        float64 // only the most likely tokens that together reach this probability; 0 and 1 mean all (Holtzman et al. 2020)
	Seed        int64   // of the draws; 0 is a seed like any other
}

// Validate says what is wrong with the config.
func (c Config) Validate() error { return c.validate(math.MaxInt) }

// validate checks the config for a vocabulary of size V.
func (c Config) validate(vocab int) error {
	switch {
	case c.Capacity < 0:
		return fmt.Errorf("generate: Capacity: got %d, want at least 0", c.Capacity)
	case c.VocabSize < 0 || c.VocabSize > vocab:
		return fmt.Errorf("generate: Vocab: got %d, want 0 to the model's %d", c.VocabSize, vocab)
	case !(c.Temperature >= 0) || math.IsInf(c.Temperature, 1):
		return fmt.Errorf("generate: Temperature: got %v, want a finite number of at least 0", c.Temperature)
	case c.TopK < 0:
		return fmt.Errorf("generate: TopK: got %d, want at least 0", c.TopK)
	case !(c.TopP >= 0 && c.TopP <= 1):
		return fmt.Errorf("generate: TopP: got %v, want a probability", c.TopP)
	}
	return nil
}
