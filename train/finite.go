package train

import (
	"errors"
	"fmt"
	"math"

	"attention/internal/dense"
	"attention/internal/kernel"
	"attention/layers"

	"gorgonia.org/tensor"
)

// ErrNotFinite is wrapped by the error of a step with a NaN or infinite loss or gradient,
// which leaves the parameters as they were, and by the error of saving such a parameter.
var ErrNotFinite = errors.New("not finite")

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
	for name, value := range p.All() {
		if !finite(value) {
			return fmt.Errorf("parameter %s: has values that are %w", name, ErrNotFinite)
		}
	}
	return nil
}

// finite reports whether a float tensor holds no NaN and no infinity.
func finite(d *tensor.Dense) bool {
	return dense.ByType(d.Dtype(), allFinite[float32], allFinite[float64])(d)
}

func allFinite[F kernel.Float](d *tensor.Dense) bool {
	x := dense.Floats[F](d)
	if sum := kernel.SumSquares(x); sum-sum == 0 {
		return true
	}
	for _, v := range x { // the squares of large numbers may overflow
		if v-v != 0 {
			return false
		}
	}
	return true
}
