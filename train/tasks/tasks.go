// Package tasks has code that the tasks in its folder share: greedy decoding of encoder–decoders, and inputs of ids.
package tasks

import (
	"slices"

	"attention/train"

	"gorgonia.org/tensor"
)

// Ids adds an int input of zeros to values and returns its elements.
func Ids(v train.Values, name string, shape ...int) []int {
	v[name] = tensor.New(tensor.Of(tensor.Int), tensor.WithShape(shape...))
	return v[name].Ints()
}

// Greedy feeds a model its own ids until its output equals them, and returns the output (B, T). Each row of target (B,
// T) begins with a given id; its other ids are arbitrary. run returns the most probable id after each id of target.
// Each run fixes at least one more id of a row; if target already is the model's output, the first run fixes all ids.
func Greedy(target []int, rows int, run func() ([]int, error)) (written []int, err error) {
	width := len(target) / rows
	for range width {
		if written, err = run(); err != nil {
			return nil, err
		}
		settled := true
		for at := 0; at < len(target); at += width {
			own, next := target[at+1:at+width], written[at:at+width-1]
			settled = settled && slices.Equal(own, next)
			copy(own, next)
		}
		if settled {
			break
		}
	}
	return written, nil
}
