package train

import (
	"fmt"

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

// String returns "all" or "matrices".
func (d Decay) String() string {
	switch d {
	case DecayAll:
		return "all"
	case DecayMatrices:
		return "matrices"
	}
	return fmt.Sprintf("Decay(%d)", int(d))
}

// MarshalText writes what String returns.
func (d Decay) MarshalText() ([]byte, error) {
	if err := d.validate(); err != nil {
		return nil, err
	}
	return []byte(d.String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (d *Decay) UnmarshalText(text []byte) error {
	if err := config.NotNil(d); err != nil {
		return err
	}
	for _, known := range []Decay{DecayAll, DecayMatrices} {
		if known.String() == string(text) {
			*d = known
			return nil
		}
	}
	return fmt.Errorf("got %q, want one of %v, %v", text, DecayAll, DecayMatrices)
}

func (d Decay) validate() error {
	if d != DecayAll && d != DecayMatrices {
		return fmt.Errorf("got %v, want %v or %v", d, DecayAll, DecayMatrices)
	}
	return nil
}

// covers reports whether a parameter of this shape is decayed.
func (d Decay) covers(s tensor.Shape) bool { return d == DecayAll || s.Dims() >= 2 }
