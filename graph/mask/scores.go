package mask

import (
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// Scores are the axes of attention scores (…, H, T, S), and the positions of the queries among
// the keys.
type Scores struct {
	Batch   tensor.Shape // the axes before H
	Heads   bool         // whether H has an axis; if not, it is 1
	H, T, S int
	// Starts are the positions of the batches' first queries among the keys, one for all or one for each; nil means the
	// alignment's.
	Starts  []int
	Endless bool // the number of keys is unlimited, as in a rolling cache
}

// ScoresOf returns the axes of scores (…, T, S). The third axis from the end is H if
// heads is set. An axis that is missing is 1.
func ScoresOf(shape tensor.Shape, heads bool) Scores {
	axes := 2
	if heads {
		axes = 3
	}
	for len(shape) < axes {
		shape = append(tensor.Shape{1}, shape...)
	}
	n := len(shape)
	s := Scores{Heads: heads, H: 1, T: shape[n-2], S: shape[n-1]}
	lead := n - 2
	if heads {
		lead--
		s.H = shape[lead]
	}
	s.Batch = slices.Clone(shape[:lead])
	return s
}

// B is the number of batches, the product of their axes; 0 if an axis is less than 1 or the
// product too large.
func (s Scores) B() int {
	if len(s.Batch) > 0 && slices.Min(s.Batch) < 1 || !dense.Fits(s.Batch...) {
		return 0
	}
	return s.Batch.TotalSize()
}

func (s Scores) shape() tensor.Shape {
	shape := slices.Clone(s.Batch)
	if s.Heads {
		shape = append(shape, s.H)
	}
	return append(shape, s.T, s.S)
}

// RowShape returns the shape of a tensor with a number for each head and query, (…, H, T).
func (s Scores) RowShape() tensor.Shape {
	shape := s.shape()
	return shape[:len(shape)-1]
}

// offsets returns the positions of the batches' first queries among the keys, one for all or one for each.
func (s Scores) offsets(a Alignment) ([]int, error) {
	if s.Starts != nil {
		return s.Starts, nil
	}
	offset, err := a.Offset(s.T, s.S)
	return []int{offset}, err
}

// Broadcast returns the layout of a tensor that broadcasts to the scores, as in torch: axes are matched from the last,
// missing ones and those of length 1 are repeated. If the tensor does not broadcast, want describes shapes that would;
// otherwise it is empty.
func (s Scores) Broadcast(shape tensor.Shape) (at kernel.BiasLayout, want string) {
	full := s.shape()
	if !broadcasts(shape, full) {
		return at, fmt.Sprintf("one that broadcasts to %v", full)
	}
	step := 1
	whole, repeated := false, false // some axis of the batch is longer than 1
	for fromEnd := 1; fromEnd <= len(full); fromEnd++ {
		d, along := 1, 0
		if fromEnd <= len(shape) {
			d = shape[len(shape)-fromEnd]
		}
		if d > 1 {
			along = step
		}
		switch {
		case fromEnd == 1:
			at.Key = along
		case fromEnd == 2:
			at.Query = along
		case fromEnd == 3 && s.Heads:
			at.Head = along
		case full[len(full)-fromEnd] == 1:
		case d == 1:
			repeated = true
		case !whole:
			whole, at.Batch = true, along
		}
		step *= d
	}
	if whole && repeated {
		return at, fmt.Sprintf("one that broadcasts to %v and repeats all of its axes before the heads' or none", full)
	}
	return at, ""
}

// BroadcastKeep is Broadcast for the node of a Keep. It also refuses a shape whose first axis could be B as well as T
// or H.
func (s Scores) BroadcastKeep(shape tensor.Shape) (at kernel.BiasLayout, want string) {
	at, want = s.Broadcast(shape)
	full, n := s.shape(), len(shape)
	if want != "" || n < 2 || n == len(full) || len(s.Batch) != 1 || shape[0] == 1 || shape[0] != s.Batch[0] {
		return at, want
	}
	switch {
	case !s.Heads:
		return at, fmt.Sprintf("(B, 1, S) or (1, T, S), which B = T = %d does not tell apart", shape[0])
	case n == 2:
		return at, fmt.Sprintf("(B, 1, 1, S) or (1, 1, T, S), which B = T = %d does not tell apart", shape[0])
	}
	return at, fmt.Sprintf("(B, 1, T, S) or (1, H, T, S), which B = H = %d does not tell apart", shape[0])
}

// broadcasts reports whether each axis of a shape, matched from the last, is 1 or equal to the full shape's.
func broadcasts(shape, full tensor.Shape) bool {
	if len(shape) > len(full) {
		return false
	}
	for i, d := range shape {
		if d != 1 && d != full[len(full)-len(shape)+i] {
			return false
		}
	}
	return true
}
