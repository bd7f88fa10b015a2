package graph

import (
	"cmp"
	"fmt"
	"math"

	"attention/internal/config"
)

// RoPEConfig sets how RoPE turns. The zero value turns one head whole, as Llama does.
type RoPEConfig struct {
	Heads int `json:"-"` // H, heads side by side in x's last axis; 0 means 1

	// Dims elements at the start of each head are turned, an even number up to D; 0 means D.
	Dims int     `json:"dims,omitempty"`
	Base float64 `json:"base,omitempty"` // of the frequencies; 0 means 10000

	// Interleaved pairs are (2i, 2i+1), as in the paper and GPT-J; otherwise they are
	// (i, i+Dims/2), as in GPT-NeoX and Hugging Face's Llama.
	Interleaved bool        `json:"interleaved,omitempty"`
	Scaling     RoPEScaling `json:"scaling,omitempty"` // for sequences longer than those of the training
	Factor      float64     `json:"factor,omitempty"`  // how many times longer; 0 with NoScaling
}

// RoPEScaling is a way to use RoPE on sequences longer than those it was trained on.
type RoPEScaling int

const (
	// NoScaling leaves positions and base unchanged.
	NoScaling RoPEScaling = iota
	// LinearScaling divides positions by Factor (Chen et al. 2023, position interpolation).
	LinearScaling
	// NTKScaling multiplies Base by Factor^(Dims/(Dims−2)): the slowest pair is slowed
	// down by Factor and the fastest not at all ("NTK-aware").
	NTKScaling
)

var scalings = config.Enum[RoPEScaling]{Name: "RoPEScaling", Words: []string{"none", "linear", "ntk"}}

// String returns "none", "linear" or "ntk".
func (s RoPEScaling) String() string { return scalings.String(s) }

// MarshalText writes what String returns.
func (s RoPEScaling) MarshalText() ([]byte, error) { return scalings.MarshalText(s) }

// UnmarshalText reads what MarshalText writes.
func (s *RoPEScaling) UnmarshalText(text []byte) error { return scalings.UnmarshalText(s, text) }

// Validate returns an error if the settings do not fit heads of D=headDim elements.
func (c RoPEConfig) Validate(headDim int) error {
	if err := c.validate(headDim); err != nil {
		return fmt.Errorf("graph: RoPE: %w", err)
	}
	return nil
}

func (c RoPEConfig) validate(headDim int) error {
	const large = "a finite number of at least 1"
	scaling := config.Field("Scaling")
	switch {
	case c.Heads < 0:
		return config.AtLeast(c, 0, "Heads")
	case c.Dims < 0 || c.Dims%2 != 0 || c.Dims > headDim:
		return config.Errorf(c, "Dims", "got %d, want an even number from 0 to D=%d", c.Dims, headDim)
	case c.Dims == 0 && (headDim < 2 || headDim%2 != 0):
		return config.Errorf(c, "Dims", "got 0 for D=%d, want an even D above 0, or an even number of its elements", headDim)
	case c.Base != 0 && !atLeastOne(c.Base):
		return config.Errorf(c, "Base", "got %v, want %s, or 0 for 10000", c.Base, large)
	case scalings.Validate(c.Scaling) != nil:
		return config.In(c, "Scaling", scalings.Validate(c.Scaling))
	case c.Scaling == NoScaling && c.Factor != 0:
		return config.Errorf(c, "Factor", "got %v without %s, want 0", c.Factor, scaling)
	case c.Scaling != NoScaling && !atLeastOne(c.Factor):
		return config.Errorf(c, "Factor", "got %v, want %s for %s %v", c.Factor, large, scaling, c.Scaling)
	case c.Scaling == NTKScaling && cmp.Or(c.Dims, headDim) == 2:
		return config.Errorf(c, "Dims", "got 2, want at least 4 for %s ntk", scaling)
	case !atLeastOne(c.resolve(headDim).Base):
		return config.Errorf(c, "Factor", "got %v, want one that keeps %s finite", c.Factor, config.Field("Base"))
	}
	return nil
}

func atLeastOne(x float64) bool { return x >= 1 && !math.IsInf(x, 1) }

// resolve replaces zeros by their defaults, and the scaling by its effect.
func (c RoPEConfig) resolve(headDim int) rotation {
	o := rotation{Heads: max(c.Heads, 1), Dims: cmp.Or(c.Dims, headDim), Base: cmp.Or(c.Base, 10000), Divisor: 1,
		Interleaved: c.Interleaved}
	switch c.Scaling {
	case LinearScaling:
		o.Divisor = c.Factor
	case NTKScaling:
		d := float64(o.Dims)
		o.Base *= math.Pow(c.Factor, d/(d-2))
	}
	return o
}
