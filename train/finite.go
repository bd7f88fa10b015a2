package train

import (
	"errors"
	"fmt"
	"math"
)

// ErrNotFinite is wrapped by the error that a NaN or infinite loss or gradient
// stops a run with. The parameters are then as they were before the step.
var ErrNotFinite = errors.New("not finite")

// checkNonNegative refuses NaN, infinities and negative values of the quantity
// called what.
func checkNonNegative(what string, v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return fmt.Errorf("train: %s: got %v, want a finite number >= 0", what, v)
	}
	return nil
}

// checkBelowOne refuses what is not in [0, 1).
func checkBelowOne(what string, v float64) error {
	if !(v >= 0 && v < 1) {
		return fmt.Errorf("train: %s: got %v, want a number >= 0 and < 1", what, v)
	}
	return nil
}
