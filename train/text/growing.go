package text

import (
	"cmp"
	"fmt"
	"math"

	"attention/internal/config"
	"attention/train"
)

// GrowingConfig shapes windows that are short at first (sequence length warm-up: Li, Zhang, He 2021, arXiv:2108.06084).
type GrowingConfig struct {
	Windows    WindowConfig  `json:"windows"`                  // shape of the rows, and of the windows after all stages
	Growth     []GrowthStage `json:"context_growth,omitempty"` // in order; each has longer windows than the last
	Accumulate int           `json:"accumulate,omitempty"`     // batches per step; 0 means 1
}

// GrowthStage is a number of steps with windows of one length.
type GrowthStage struct {
	Context int `json:"context"` // tokens of a window: a divisor of the rows' length, and smaller
	Steps   int `json:"steps"`   // at least 1
}

func (s GrowthStage) validate() error {
	return cmp.Or(config.AtLeast(s, 1, "Context", "Steps"), config.AtMost(s, math.MaxInt32, "Steps"))
}

// Validate returns an error that names the first wrong field.
func (c GrowingConfig) Validate() error {
	if err := cmp.Or(config.In(c, "Windows", c.Windows.Validate()), config.AtLeast(c, 0, "Accumulate")); err != nil {
		return err
	}
	for i, s := range c.Growth {
		at := fmt.Sprintf("Growth[%d]", i)
		if err := s.validate(); err != nil {
			return config.In(c, at, err)
		}
		if n := c.Windows.Context; s.Context >= n || n%s.Context != 0 {
			return config.Errorf(c, at+".Context", "got %d, want a divisor of the context of %d, and less", s.Context, n)
		}
		if i > 0 && s.Context <= c.Growth[i-1].Context {
			return config.Errorf(c, at+".Context", "got %d after %d, want longer windows in each stage", s.Context,
				c.Growth[i-1].Context)
		}
	}
	if len(c.Growth) > 0 && c.Windows.LastOnly {
		return config.Errorf(c, "Growth", "got it for windows of which only the last target counts, want it for those of all")
	}
	return nil
}

// GrowingWindows is an endless source of random windows of a text, short ones at first. In a stage with windows of T
// tokens, a batch is (B·C/T, T), where the last stage has windows of C tokens: every batch has equally many tokens.
type GrowingWindows struct {
	windows *Windows
	config  GrowingConfig
	drawn   int // batches
}

// NewGrowingWindows returns a source over ids, which must not change. Equal ids, configs and seeds give equal batches,
// and after all stages the rows are windows of one length. It returns the errors of NewWindows.
func NewGrowingWindows(ids []int, c GrowingConfig, seed uint64) (*GrowingWindows, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("text: growing windows: %w", err)
	}
	w, err := NewWindows(ids, c.Windows, seed)
	if err != nil {
		return nil, err
	}
	return &GrowingWindows{windows: w, config: c}, nil
}

// Next returns a batch of new windows. It never returns an error. Batches share their memory.
func (g *GrowingWindows) Next() (train.Batch, error) {
	n := g.context()
	g.drawn++
	return g.windows.next(n), nil
}

// context returns the tokens of the next batch's windows.
func (g *GrowingWindows) context() int {
	end := 0
	for _, s := range g.config.Growth {
		if end += s.Steps * max(1, g.config.Accumulate); g.drawn < end {
			return s.Context
		}
	}
	return g.config.Windows.Context
}

// State returns the number of batches and the state of the random stream.
func (g *GrowingWindows) State() []byte { return append(encodePosition(g.drawn), g.windows.State()...) }

// SetState restores a state that State returned: over equal ids and with an equal config, the same batches follow.
func (g *GrowingWindows) SetState(state []byte) error {
	if len(state) < positionBytes {
		return fmt.Errorf("text: growing windows: state: got %d bytes, want more", len(state))
	}
	var drawn int
	if err := decodePosition(&drawn, state[:positionBytes], math.MaxInt64); err != nil {
		return err
	}
	if err := g.windows.SetState(state[positionBytes:]); err != nil {
		return err
	}
	g.drawn = drawn
	return nil
}
