package graph

import (
	"fmt"
	"math"

	"attention/internal/dense"

	"gorgonia.org/tensor"
)

// fitting returns an error unless a setting of an op is neither 0 nor ∞ in a type of floats,
// and its inverse is not either.
func fitting(dt tensor.Dtype, x float64) error {
	most := dense.ByType(dt, math.MaxFloat32, math.MaxFloat64)
	if least := 1 / most; math.Abs(x) < least || math.Abs(x) > most {
		return fmt.Errorf("got %v, want a size of %.3g to %.3g for %v", x, least, most, dt)
	}
	return nil
}

// last returns the length of a shape's last axis.
func last(s tensor.Shape) int { return s[len(s)-1] }
