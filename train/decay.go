package train

import (
	"attention/internal/config"

	"gorgonia.org/tensor"
)

// Decay selects the parameters that weight decay applies to.
type Decay int

const (
	// DecayAll decays every parameter, as PyTorch does without parameter groups.
	DecayAll Decay = iota
	// DecayMatrices decays parameters of two or more axes (projection matrices,
	// embeddings) and leaves biases and norm gains alone, as nanoGPT does.
	DecayMatrices
)

var decays = config.Enum[Decay]{Name: "Decay", Words: []string{"all", "matrices"}}

// String returns "all" or "matrices".
func (d Decay) String() string { return decays.String(d) }

// MarshalText writes what String returns.
func (d Decay) MarshalText() ([]byte, error) { return decays.MarshalText(d) }

// UnmarshalText reads what MarshalText wrote.
func (d *Decay) UnmarshalText(text []byte) error { return decays.UnmarshalText(d, text) }

// covers reports whether a parameter of this shape is decayed.
func (d Decay) covers(s tensor.Shape) bool { return d == DecayAll || s.Dims() >= 2 }
