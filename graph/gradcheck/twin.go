package gradcheck

import (
	"fmt"
	"math"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// CheckTwin compares the symbolic gradients of the float32 node out32 with the central
// differences of out64, the same graph in float64. wrt32 and wrt64 are their inputs in
// the same order. Both graphs must hold the same values: those of wrt64 may be more
// precise, and are rounded to float32 for the check; other inputs must be equal.
//
// float32 has a relative rounding error of 6e-8. An element of a gradient is a sum of terms that may each be as large
// as the gradient's largest element, so its error is relative to that element. AbsTol therefore counts in units of
// max(1, the largest |n| of the input). Its default 1e-5 allows a few hundred roundings; RelTol's default 1e-4 allows
// the same for an element that is a product of several rounded factors. In mode OneDirection the errors of an input's N
// elements add up to about √N times that, as random errors do.
func CheckTwin(out32 *G.Node, wrt32 G.Nodes, out64 *G.Node, wrt64 G.Nodes, c Config) (*Report, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	narrow, err := newSubject(out32, wrt32, tensor.Float32)
	if err != nil {
		return nil, err
	}
	wide, err := newSubject(out64, wrt64, tensor.Float64)
	if err != nil {
		return nil, err
	}
	if err := alignTwins(narrow, wide); err != nil {
		return nil, err
	}
	k := checker{Config: c.withDefaults(1e-5, 1e-4), symbolic: narrow, moved: wide, scale: byLargest}
	return k.check()
}

// alignTwins copies the float32 graph's values to the float64 graph.
func alignTwins(narrow, wide *subject) error {
	if a, b := narrow.out.Shape(), wide.out.Shape(); !slices.Equal(a, b) {
		return fmt.Errorf("gradcheck: out64: shape %v, want out32's %v", b, a)
	}
	if len(narrow.variables) != len(wide.variables) {
		return fmt.Errorf("gradcheck: wrt64: got %d nodes, want wrt32's %d", len(wide.variables), len(narrow.variables))
	}
	for i, v := range narrow.variables {
		w := wide.variables[i]
		if !slices.Equal(v.shape, w.shape) {
			return fmt.Errorf("gradcheck: wrt64: %s: shape %v, want that of wrt32's %s, %v", w.name, w.shape,
				v.name, v.shape)
		}
		for j, x := range w.data {
			if float64(float32(x)) != v.data[j] {
				return fmt.Errorf("gradcheck: wrt64: %s: got %v at %v, want wrt32's %v",
					w.name, x, multiIndex(j, w.shape), v.data[j])
			}
		}
		if wide.inputs[i] != nil {
			w.set(v.data)
		}
	}
	return nil
}

// byLargest returns the rounding error of a sum of so many elements of the gradient, in units of the rounding error of
// an element of size one.
func byLargest(gradient []float64, summed int) float64 {
	largest := 1.0
	for _, x := range gradient {
		if finite(x) {
			largest = max(largest, math.Abs(x))
		}
	}
	return largest * math.Sqrt(float64(summed))
}
