package graph

import (
	"fmt"
	"strconv"
	"unsafe"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// contiguous returns v as a dense row-major tensor, copying only what is not.
func contiguous(v G.Value) (*tensor.Dense, error) {
	switch v := v.(type) {
	case *tensor.Dense:
		if !v.RequiresIterator() && !v.DataOrder().IsColMajor() {
			return v, nil
		}
		if d, ok := v.Materialize().(*tensor.Dense); ok && !d.DataOrder().IsColMajor() {
			return d, nil
		}
		return nil, fmt.Errorf("got a tensor in column-major order, want row-major")
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

// ints returns an integer tensor's elements, to be read only.
func ints(t *tensor.Dense) []int64 {
	switch d := t.Data().(type) {
	case []int64:
		return d
	case int64:
		return []int64{d}
	case []int:
		if strconv.IntSize == 64 { // then an int is an int64
			return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(d))), len(d))
		}
		ids := make([]int64, len(d))
		for i, id := range d {
			ids[i] = int64(id)
		}
		return ids
	case int:
		return []int64{int64(d)}
	}
	return nil
}

// last returns the length of a shape's last axis.
func last(s tensor.Shape) int { return s[len(s)-1] }

// byType returns the float32 or the float64 form of a function.
func byType[T any](t *tensor.Dense, f32, f64 T) T {
	if t.Dtype() == tensor.Float32 {
		return f32
	}
	return f64
}

// noSecond is isGradient's error.
func noSecond(body) (G.Nodes, error) { return nil, errNoSecond }
