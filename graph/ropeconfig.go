package graph

import (
	"cmp"
	"fmt"
	"math"

	"attention/internal/config"
)

// RoPEConfig sets how RoPE rotates. The zero value rotates one whole head, as Llama does.
type RoPEConfig struct {
	Heads int `json:"-"` // H, heads side by side in x's last axis; 0 means 1

	// Dims is the number of elements at the start of each head that are rotated, an even number up to D; 0 means D.
	Dims  int     `json:"dims,omitempty"`
	AtEnd bool    `json:"at_end,omitempty"` // the elements at the end instead, as in DeepSeek-V2
	Base  float64 `json:"base,omitempty"`   // base of the frequencies; 0 means 10000

	// Interleaved pairs are (2i, 2i+1), as in the paper and GPT-J; otherwise they are
	// (i, i+Dims/2), as in GPT-NeoX and Hugging Face's Llama.
	Interleaved bool        `json:"interleaved,omitempty"`
	Scaling     RoPEScaling `json:"scaling,omitempty"` // for sequences longer than in training
	Factor      float64     `json:"factor,omitempty"`  // how many times longer; 0 with NoScaling

	// OriginalLength is the longest sequence of the training, for Llama3Scaling and YaRNScaling; it is 0 with the other
	// scalings. This and the fields that follow have the names of Hugging Face in JSON.
	OriginalLength int `json:"original_max_position_embeddings,omitempty"`

	// With Llama3Scaling the pairs that turn LowFreqFactor times or less over OriginalLength are slowed down by Factor;
	// pairs that turn HighFreqFactor times or more do not change. 0 means 1 and 4.
	LowFreqFactor  float64 `json:"low_freq_factor,omitempty"`
	HighFreqFactor float64 `json:"high_freq_factor,omitempty"`

	// With YaRNScaling the pairs that turn BetaSlow times or less over OriginalLength are slowed down by Factor; pairs
	// that turn BetaFast times or more do not change. 0 means 1 and 32.
	BetaSlow float64 `json:"beta_slow,omitempty"`
	BetaFast float64 `json:"beta_fast,omitempty"`
	// With YaRNScaling, AttentionFactor multiplies the turned elements, and its square therefore multiplies the scores; 0
	// means 0.1·ln Factor + 1.
	AttentionFactor float64 `json:"attention_factor,omitempty"`
}

// RoPEScaling is a way to use RoPE on sequences longer than those it was trained on.
type RoPEScaling int

const (
	// NoScaling leaves positions and base unchanged.
	NoScaling RoPEScaling = iota
	// LinearScaling divides positions by Factor (Chen et al. 2023, position interpolation).
	LinearScaling
	// NTKScaling multiplies Base by Factor^(Dims/(Dims−2)): the slowest pair is slowed down by Factor, and the fastest not
	// at all ("NTK-aware").
	NTKScaling
	// Llama3Scaling slows slow pairs down by Factor and leaves fast pairs unchanged; between the two the frequencies are
	// interpolated linearly in the number of turns (Llama 3.1; Hugging Face's "llama3").
	Llama3Scaling
	// YaRNScaling slows slow pairs down by Factor and leaves fast pairs unchanged; between the two the frequencies are
	// interpolated linearly in the number of the pair (Peng et al. 2023, as in Hugging Face's "yarn").
	YaRNScaling
)

var scalings = config.Enum[RoPEScaling]{Name: "RoPEScaling", Words: []string{"none", "linear", "ntk", "llama3", "yarn"}}

// String returns "none", "linear", "ntk", "llama3" or "yarn".
func (s RoPEScaling) String() string { return scalings.String(s) }

// MarshalText returns the text of String.
func (s RoPEScaling) MarshalText() ([]byte, error) { return scalings.MarshalText(s) }

// UnmarshalText reads the text of MarshalText.
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
		return config.Errorf(c, "Dims", "got 0 for D=%d, want an even D above 0, or an even number of its elements",
			headDim)
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
	return c.validateTurns()
}

// validateTurns checks the fields that only some scalings have.
func (c RoPEConfig) validateTurns() error {
	scaling, turns := config.Field("Scaling"), c.Scaling == Llama3Scaling || c.Scaling == YaRNScaling
	if turns && c.OriginalLength < 1 {
		return config.Errorf(c, "OriginalLength", "got %d, want at least 1 for %s %v", c.OriginalLength,
			scaling, c.Scaling)
	}
	for _, f := range []struct {
		name  string
		value float64
		of    bool // whether the scaling has it
	}{
		{"OriginalLength", float64(c.OriginalLength), turns},
		{"LowFreqFactor", c.LowFreqFactor, c.Scaling == Llama3Scaling},
		{"HighFreqFactor", c.HighFreqFactor, c.Scaling == Llama3Scaling},
		{"BetaSlow", c.BetaSlow, c.Scaling == YaRNScaling},
		{"BetaFast", c.BetaFast, c.Scaling == YaRNScaling},
		{"AttentionFactor", c.AttentionFactor, c.Scaling == YaRNScaling},
	} {
		switch {
		case !f.of && f.value != 0:
			return config.Errorf(c, f.name, "got %v for %s %v, want 0", f.value, scaling, c.Scaling)
		case !(f.value >= 0) || math.IsInf(f.value, 1):
			return config.Errorf(c, f.name, "got %v, want a finite number above 0, or 0 for the default", f.value)
		}
	}
	r := c.resolve(0)
	switch {
	case c.Scaling == Llama3Scaling && r.HighFreqFactor <= r.LowFreqFactor:
		return config.Errorf(c, "HighFreqFactor", "got %v, want more than the %v of %s", r.HighFreqFactor,
			r.LowFreqFactor, config.Field("LowFreqFactor"))
	case c.Scaling == YaRNScaling && r.BetaFast <= r.BetaSlow:
		return config.Errorf(c, "BetaFast", "got %v, want more than the %v of %s", r.BetaFast, r.BetaSlow,
			config.Field("BetaSlow"))
	case c.Scaling == YaRNScaling && r.Base == 1:
		return config.Errorf(c, "Base", "got 1, want more for %s yarn", scaling)
	}
	return nil
}

func atLeastOne(x float64) bool { return x >= 1 && !math.IsInf(x, 1) }

// resolve replaces zeros by their defaults, and NTKScaling by its Base.
func (c RoPEConfig) resolve(headDim int) RoPEConfig {
	c.Heads, c.Dims, c.Base = max(c.Heads, 1), cmp.Or(c.Dims, headDim), cmp.Or(c.Base, 10000)
	switch c.Scaling {
	case LinearScaling:
		if c.Factor == 1 {
			c.Scaling, c.Factor = NoScaling, 0
		}
	case NTKScaling:
		d := float64(c.Dims)
		c.Base *= math.Pow(c.Factor, d/(d-2))
		c.Scaling, c.Factor = NoScaling, 0
	case Llama3Scaling:
		c.LowFreqFactor, c.HighFreqFactor = cmp.Or(c.LowFreqFactor, 1), cmp.Or(c.HighFreqFactor, 4)
	case YaRNScaling:
		c.BetaSlow, c.BetaFast = cmp.Or(c.BetaSlow, 1), cmp.Or(c.BetaFast, 32)
		c.AttentionFactor = cmp.Or(c.AttentionFactor, 0.1*math.Log(c.Factor)+1)
	}
	return c
}

// frequencies returns the angle of each pair at position 1. LinearScaling does not change them, because it divides
// positions.
func (c RoPEConfig) frequencies() []float64 {
	f := frequencies(c.Base, c.Dims)
	switch c.Scaling {
	case Llama3Scaling:
		c.mixByTurns(f)
	case YaRNScaling:
		c.mixByPairs(f)
	}
	return f
}

// mixByTurns slows down each frequency according to its number of turns over the original length: by Factor up to
// LowFreqFactor turns, not at all from HighFreqFactor turns on, and linearly in between.
func (c RoPEConfig) mixByTurns(f []float64) {
	for i, w := range f {
		turns := float64(c.OriginalLength) * w / (2 * math.Pi)
		kept := (turns - c.LowFreqFactor) / (c.HighFreqFactor - c.LowFreqFactor)
		f[i] = mix(w/c.Factor, w, kept)
	}
}

// mixByPairs slows down each frequency according to the number of its pair: not at all up to the pair that turns
// BetaFast times over the original length, by Factor from the pair that turns BetaSlow times on, and linearly in
// between.
func (c RoPEConfig) mixByPairs(f []float64) {
	pair := func(turns float64) float64 {
		return float64(c.Dims) * math.Log(float64(c.OriginalLength)/(2*math.Pi*turns)) / (2 * math.Log(c.Base))
	}
	first := max(math.Floor(pair(c.BetaFast)), 0)
	last := min(math.Ceil(pair(c.BetaSlow)), float64(c.Dims-1))
	if first == last {
		last += 0.001 // as in the paper's program
	}
	for i, w := range f {
		f[i] = mix(w, w/c.Factor, (float64(i)-first)/(last-first))
	}
}

// mix returns a for shares up to 0, b for shares from 1 on, and interpolates linearly in between.
func mix(a, b, share float64) float64 {
	share = min(max(share, 0), 1)
	return (1-share)*a + share*b
}
