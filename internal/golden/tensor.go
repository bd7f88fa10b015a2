package golden

import (
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Dense returns a tensor of type dt, float32 or float64, with a copy of the elements of v.
func Dense(dt tensor.Dtype, v []float64, shape ...int) *tensor.Dense {
	var backing any = slices.Clone(v)
	if dt == tensor.Float32 {
		backing = convert[float32](v)
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(backing))
}

// Floats returns a copy of the elements of a float32 or float64 tensor, widened without
// loss.
func Floats(t testing.TB, v G.Value) []float64 {
	t.Helper()
	elements := floats[float64](v.Data())
	if elements == nil {
		t.Fatalf("golden: got a value of type %T, want a tensor of float32 or float64", v.Data())
	}
	return elements
}
