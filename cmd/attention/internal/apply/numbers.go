package apply

import (
	"errors"
	"fmt"

	"gorgonia.org/tensor"
)

// numberKind is the required kind of a tensor's elements.
type numberKind int

const (
	realNumbers  numberKind = iota // of a floating-point type
	wholeNumbers                   // of an integer type
	zerosAndOnes                   // 0 or 1 in any type
)

// checkKind checks that a tensor's elements are of a kind.
func (f *tensorFile) checkKind(name string, kind numberKind) error {
	t, want := f.tensors[name], "F64, F32, F16 or BF16"
	switch kind {
	case realNumbers:
		switch t.Data.(type) {
		case []float32, []float64:
			return nil
		}
	case wholeNumbers:
		if _, ok := f.whole(name); ok {
			return nil
		}
		want = "I64, I32, I16, I8 or U8"
	case zerosAndOnes:
		_, err := f.bits(name)
		return err
	}
	return f.fail(name, "dtype %s, want %s", t.DType, want)
}

// whole returns a tensor's elements if they are of an integer type.
func (f *tensorFile) whole(name string) ([]int64, bool) {
	switch data := f.tensors[name].Data.(type) {
	case []int64:
		return data, true
	case []int32:
		return convert[int64](data), true
	case []int16:
		return convert[int64](data), true
	case []int8:
		return convert[int64](data), true
	case []uint8:
		return convert[int64](data), true
	}
	return nil, false
}

// bits returns a tensor's elements, each of which must be 0 or 1.
func (f *tensorFile) bits(name string) (bits []float32, err error) {
	switch data := f.tensors[name].Data.(type) {
	case []bool:
		bits = make([]float32, len(data))
		for i, v := range data {
			if v {
				bits[i] = 1
			}
		}
	case []float32:
		bits, err = bitsOf(data)
	case []float64:
		bits, err = bitsOf(data)
	default:
		whole, _ := f.whole(name)
		bits, err = bitsOf(whole)
	}
	if err != nil {
		return nil, f.fail(name, "%v", err)
	}
	return bits, nil
}

func bitsOf[N int64 | float32 | float64](data []N) ([]float32, error) {
	for i, v := range data {
		if v != 0 && v != 1 {
			return nil, fmt.Errorf("got %v at element %d, want 0 or 1", v, i)
		}
	}
	return convert[float32](data), nil
}

// dense returns a tensor, which must be of the kind. Floats become dt: float64 is
// rounded to the nearest float32, other types are widened without loss. Integers become
// int64, zeros and ones float32.
func (f *tensorFile) dense(name string, kind numberKind, dt tensor.Dtype) *tensor.Dense {
	t := f.tensors[name]
	backing := t.Data
	switch kind {
	case wholeNumbers:
		backing, _ = f.whole(name)
	case zerosAndOnes:
		backing, _ = f.bits(name)
	default:
		switch data := t.Data.(type) {
		case []float32:
			if dt == tensor.Float64 {
				backing = convert[float64](data)
			}
		case []float64:
			if dt == tensor.Float32 {
				backing = convert[float32](data)
			}
		}
	}
	return tensor.New(tensor.WithShape(t.Shape...), tensor.WithBacking(backing))
}

func convert[To, From float32 | float64 | int64 | int32 | int16 | int8 | uint8](from []From) []To {
	to := make([]To, len(from))
	for i, v := range from {
		to[i] = To(v)
	}
	return to
}

// floatSlice returns a contiguous tensor's memory, also if it holds a single element.
func floatSlice(t *tensor.Dense) (any, error) {
	if t.RequiresIterator() || t.DataOrder().IsColMajor() {
		return nil, errors.New("is not in row-major order")
	}
	switch data := t.Data().(type) {
	case []float32, []float64:
		return data, nil
	case float32:
		return []float32{data}, nil
	case float64:
		return []float64{data}, nil
	}
	return nil, fmt.Errorf("holds %v, want float32 or float64", t.Dtype())
}
