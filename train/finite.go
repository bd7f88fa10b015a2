package train

import (
	"errors"
	"fmt"
	"math"

	"attention/graph/machine"
	"attention/internal/dense"
	"attention/layers"
)

// ErrNotFinite is wrapped by the error of a step with a NaN or infinite loss or gradient,
// which leaves the parameters as they were, and by the error of saving such a parameter or of
// reading one from a file.
var ErrNotFinite = machine.ErrNotFinite

// checkNonNegative refuses NaN, infinities and negative values of the quantity
// called what.
func checkNonNegative(what string, v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return fmt.Errorf("train: %s: got %v, want a finite number >= 0", what, v)
	}
	return nil
}

// CheckFinite returns an error that wraps ErrNotFinite and names the first parameter with a NaN
// or an infinity: a model that has one computes nothing else.
func CheckFinite(p *layers.Params) error {
	if p == nil {
		return errors.New("train: parameters: got nil, want Params")
	}
	for name, value := range p.Own() {
		if !dense.IsFinite(value) {
			return fmt.Errorf("parameter %s: has values that are %w", name, ErrNotFinite)
		}
	}
	return nil
}
