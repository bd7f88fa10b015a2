// Package tasks has what the tasks below its folder share: the greedy writing of encoder–decoders, and inputs of ids.
package tasks

import (
	"slices"

	"attention/train"

	"gorgonia.org/tensor"
)

// Ids adds an input of ids to values, int and all 0, and returns its elements.
func Ids(v train.Values, name string, shape ...int) []int {
	v[name] = tensor.New(tensor.Of(tensor.Int), tensor.WithShape(shape...))
	return v[name].Ints()
}

// Greedy feeds a model its own ids until it writes them again, and returns what it writes (B, T). Each of the rows of
// target (B, T) begins with an id that is given; the others may be any. run returns the likeliest id after each id of
// target. Each run settles at least one id of a row more; if target has what the model writes, the first settles all.
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
