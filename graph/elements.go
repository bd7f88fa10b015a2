package graph

import (
	"fmt"
	"math"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// contiguous returns v as a dense row-major tensor, copying only what is not.
func contiguous(v G.Value) (*tensor.Dense, error) {
	switch v := v.(type) {
	case *tensor.Dense:
		return dense.RowMajor(v)
	case G.Scalar:
		return tensor.New(tensor.FromScalar(v.Data())), nil
	}
	return nil, fmt.Errorf("got a %T, want a *tensor.Dense or a scalar", v)
}

// floats returns a tensor's memory, of one element for a scalar.
func floats[F kernel.Float](t *tensor.Dense) []F {
	var f F
	if _, ok := any(f).(float32); ok {
		return any(t.Float32s()).([]F)
	}
	return any(t.Float64s()).([]F)
}

// fitting returns an error unless a setting of an op is neither 0 nor ∞ in a type of floats,
// and its inverse is not either.
func fitting(dt tensor.Dtype, x float64) error {
	most := math.MaxFloat64
	if dt == tensor.Float32 {
		most = math.MaxFloat32
	}
	if least := 1 / most; math.Abs(x) < least || math.Abs(x) > most {
		return fmt.Errorf("got %v, want a size of %.3g to %.3g for %v", x, least, most, dt)
	}
	return nil
}

// last returns the length of a shape's last axis.
func last(s tensor.Shape) int { return s[len(s)-1] }
