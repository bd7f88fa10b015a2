package apply

import (
	"fmt"
	"slices"

	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// numberKind is the required kind of a tensor's elements.
type numberKind int

const (
	realNumbers  numberKind = iota // of a floating-point type
	wholeNumbers                   // of an integer type
	zerosAndOnes                   // 0 or 1 in any type
)

// checkKind checks that a tensor's elements are of a kind. It converts zeros and ones to float32.
func (f *tensorFile) checkKind(name string, kind numberKind) error {
	if kind == zerosAndOnes {
		t, err := f.read(name)
		if err != nil {
			return err
		}
		if t.Data, err = bitsOf(t.Data); err != nil {
			return f.fail(name, "%v", err)
		}
		f.tensors[name] = t
		return nil
	}
	want, dtypes := "F64, F32, F16 or BF16", floats
	if kind == wholeNumbers {
		want, dtypes = "I64, I32, I16, I8 or U8", integers
	}
	if got := f.tensors[name].DType; !slices.Contains(dtypes, got) {
		return f.fail(name, "dtype %s, want %s", got, want)
	}
	return nil
}

// The dtypes of real and of whole numbers.
var (
	floats   = []safetensors.DType{safetensors.F64, safetensors.F32, safetensors.F16, safetensors.BF16}
	integers = []safetensors.DType{safetensors.I64, safetensors.I32, safetensors.I16, safetensors.I8, safetensors.U8}
)

// dense returns a tensor whose kind has been checked. It converts real numbers to dt, and rounds
// float64 to the nearest float32.
func (f *tensorFile) dense(name string, kind numberKind, dt tensor.Dtype) (*tensor.Dense, error) {
	t, err := f.read(name)
	if err != nil {
		return nil, err
	}
	backing := t.Data
	switch {
	case kind == realNumbers && t.DType != safetensors.F64 && dt == tensor.Float64:
		backing = safetensors.Floats[float64](t.Data)
	case kind == realNumbers && t.DType == safetensors.F64 && dt == tensor.Float32:
		backing = safetensors.Floats[float32](t.Data)
	}
	return tensor.New(tensor.WithShape(t.Shape...), tensor.WithBacking(backing)), nil
}

// bitsOf returns elements of any type as float32s. Each element must be 0 or 1.
func bitsOf(data any) ([]float32, error) {
	switch data := data.(type) {
	case []float32:
		return zerosOrOnes(data)
	case []float64:
		return zerosOrOnes(data)
	case []int64:
		return zerosOrOnes(data)
	}
	shown := data.([]bool)
	bits := make([]float32, len(shown))
	for i, v := range shown {
		if v {
			bits[i] = 1
		}
	}
	return bits, nil
}

// zerosOrOnes returns numbers as float32s. Each number must be 0 or 1.
func zerosOrOnes[N int64 | float32 | float64](data []N) ([]float32, error) {
	for i, v := range data {
		if v != 0 && v != 1 {
			return nil, fmt.Errorf("got %v at element %d, want 0 or 1", v, i)
		}
	}
	return safetensors.Convert[float32](data), nil
}
