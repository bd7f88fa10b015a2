package golden

import (
	"slices"
	"testing"

	"attention/internal/dense"
	"attention/internal/safetensors"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Dense returns a tensor of type dt, float32 or float64, with a copy of the elements of v.
func Dense(dt tensor.Dtype, v []float64, shape ...int) *tensor.Dense {
	return dense.Of(dt, slices.Clone(v), shape...)
}

// Numbers returns a tensor of type dt, float32 or float64, with elements between −1 and 1 in no order: any
// 1009 in a row are distinct.
func Numbers(dt tensor.Dtype, shape ...int) *tensor.Dense {
	v := make([]float64, tensor.Shape(shape).TotalSize())
	for i := range v {
		v[i] = float64((i*7919+13)%1009)/504.5 - 1
	}
	return Dense(dt, v, shape...)
}

// Floats returns a copy of the elements of a float32 or float64 tensor, or of one that is stored in bfloat16, widened
// without loss.
func Floats(t testing.TB, v G.Value) []float64 {
	t.Helper()
	if d, ok := v.(*tensor.Dense); ok {
		v = dense.Widened(d)
	}
	elements := safetensors.Floats[float64](v.Data())
	if elements == nil {
		t.Fatalf("golden: got a value of type %T, want a tensor of float32 or float64", v.Data())
	}
	return elements
}
