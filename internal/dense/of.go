package dense

import "gorgonia.org/tensor"

// Of returns a tensor of type dt, float32 or float64, with these elements. A float64 tensor
// keeps the slice as its memory.
func Of(dt tensor.Dtype, elements []float64, shape ...int) *tensor.Dense {
	var backing any = elements
	if dt == tensor.Float32 {
		narrow := make([]float32, len(elements))
		for i, v := range elements {
			narrow[i] = float32(v)
		}
		backing = narrow
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(backing))
}
