package layers

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"attention/internal/config"
	"attention/internal/dense"

	"gorgonia.org/tensor"
)

// Bucket pads an axis of a Func's inputs at its end, with zeros, to the next larger of some sizes. Calls with many
// lengths then need only one graph for each size. The formula masks the padding, with Lengths or with an input of its
// own.
//
//	Bucket{Sizes: []int{32, 64, 128}, Inputs: map[string]int{"ids": 1}, Outputs: map[int]int{0: 1}, Lengths: "lengths"}
//
// pads ids (B, T) along T, and cuts the first result (B, T, V) back to the real T.
type Bucket struct {
	Sizes   []int          `json:"sizes"`             // ascending; a longer axis is an error
	Inputs  map[string]int `json:"inputs"`            // the axis of each input that has it; all have the same length
	Outputs map[int]int    `json:"outputs,omitempty"` // the axis of each result that is cut back to the real length
	// Lengths is the name of one more input of the formula, if it is not empty: the real length as an int, for each
	// element of the axes before the padded one, in the input with the fewest such axes: (B) for (B, T), and a scalar for
	// (T). mask.KeyLengths takes it.
	Lengths string `json:"lengths,omitempty"`
}

// Validate returns an error that names the first wrong field.
func (c FuncConfig) Validate() error {
	if err := config.AtLeast(c, 0, "Graphs"); err != nil {
		return err
	}
	for i, b := range c.Buckets {
		if err := b.validate(); err != nil {
			return config.In(c, fmt.Sprintf("Buckets[%d]", i), err)
		}
	}
	return nil
}

func (b Bucket) validate() error {
	negative := func(axis int) bool { return axis < 0 }
	switch {
	case len(b.Sizes) == 0 || b.Sizes[0] < 1 || !slices.IsSorted(b.Sizes):
		return config.Errorf(b, "Sizes", "got %v, want one or more in ascending order, each at least 1", b.Sizes)
	case len(b.Inputs) == 0 || slices.ContainsFunc(slices.Collect(maps.Values(b.Inputs)), negative):
		return config.Errorf(b, "Inputs", "got %v, want the names of one input or more, and axes >= 0", b.Inputs)
	case slices.ContainsFunc(slices.Collect(maps.Values(b.Outputs)), negative):
		return config.Errorf(b, "Outputs", "got %v, want axes >= 0", b.Outputs)
	}
	return nil
}

// length returns the length of the bucket's axis in values, and the size that it is padded to.
func (b Bucket) length(v Values) (n, size int, err error) {
	first := ""
	for _, name := range slices.Sorted(maps.Keys(b.Inputs)) {
		d, axis := v[name], b.Inputs[name]
		if !dense.IsTensor(d) || d.Dims() <= axis {
			return 0, 0, fmt.Errorf("%s: got %s, want a tensor with axis %d, which is padded", name, dense.Form(d), axis)
		}
		if got := d.Shape()[axis]; first == "" {
			first, n = name, got
		} else if got != n {
			return 0, 0, fmt.Errorf("%s: got %d elements on axis %d, want %d as on axis %d of %s",
				name, got, axis, n, b.Inputs[first], first)
		}
	}
	i, _ := slices.BinarySearch(b.Sizes, n)
	if i == len(b.Sizes) {
		return 0, 0, fmt.Errorf("%s: got %d elements on axis %d, want at most %d, the largest size of its bucket",
			first, n, b.Inputs[first], b.Sizes[i-1])
	}
	return n, b.Sizes[i], nil
}

// pad returns values with their axes padded and the inputs of lengths, and the real length of each bucket.
func (c FuncConfig) pad(v Values) (padded Values, lengths []int, err error) {
	if len(c.Buckets) == 0 {
		return v, nil, nil
	}
	padded = maps.Clone(v)
	to := map[string]tensor.Shape{}
	for _, b := range c.Buckets {
		n, size, err := b.length(v)
		if err != nil {
			return nil, nil, err
		}
		lengths = append(lengths, n)
		for name, axis := range b.Inputs {
			if to[name] == nil {
				to[name] = v[name].Shape().Clone()
			}
			to[name][axis] = size
		}
	}
	for name, shape := range to {
		from, err := dense.RowMajor(v[name])
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		padded[name] = tensor.New(tensor.Of(from.Dtype()), tensor.WithShape(shape...))
		dense.CopyCorner(padded[name], from)
	}
	for i, b := range c.Buckets {
		if b.Lengths == "" {
			continue
		}
		if v[b.Lengths] != nil {
			return nil, nil, fmt.Errorf("%s: got a value, want none: it is the name of lengths", b.Lengths)
		}
		least := slices.MinFunc(slices.Sorted(maps.Keys(b.Inputs)), func(x, y string) int {
			return cmp.Compare(b.Inputs[x], b.Inputs[y])
		})
		before := to[least][:b.Inputs[least]]
		all := slices.Repeat([]int{lengths[i]}, before.TotalSize())
		padded[b.Lengths] = tensor.New(tensor.WithShape(before...), tensor.WithBacking(all))
	}
	return padded, lengths, nil
}

// cut returns the shape of result i without the part that is computed from padding.
func (c FuncConfig) cut(i int, shape tensor.Shape, lengths []int) (tensor.Shape, error) {
	for k, b := range c.Buckets {
		axis, ok := b.Outputs[i]
		if !ok {
			continue
		}
		if axis >= len(shape) || shape[axis] < lengths[k] {
			return nil, fmt.Errorf("shape %v, want at least %d elements on axis %d, which is cut", shape, lengths[k], axis)
		}
		shape = shape.Clone()
		shape[axis] = lengths[k]
	}
	return shape, nil
}
