package layers

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"attention/internal/dense"

	"gorgonia.org/tensor"
)

// Buffers returns the names of the buffers that the book's causal classes save beside their parameters in PyTorch
// (register_buffer), with their context length C, 0 for any: one for every Attention of layout Book whose mask is
// mask.Causal without an offset, and one for every head of layout PerHead. CausalMask returns their value. The layers
// here have no buffer: their graphs hide keys by position, for any T. A state may contain a buffer; if it does, the
// buffer must hide the same keys as the layer.
func (p *Params) Buffers() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for _, b := range p.buffers {
			if !yield(b.name, b.contextLength) {
				return
			}
		}
	}
}

// buffer is a buffer of a Params.
type buffer struct {
	name          string
	contextLength int
}

// buffer records a buffer of the scope.
func (s Scope) buffer(name string, contextLength int) {
	s.params.buffers = append(s.params.buffers, buffer{s.join(name), contextLength})
}

// CausalMask returns the value of a buffer of context length C = n: mask (C, C), 1 above the diagonal, where a key is
// hidden, and 0 elsewhere, torch.triu(torch.ones(C, C), diagonal=1). It is nil if C is 0 or too large for a tensor.
func CausalMask(dt tensor.Dtype, n int) *tensor.Dense {
	if n < 1 || !dense.Fits(n, n) {
		return nil
	}
	hidden := make([]float64, n*n)
	for i := range n {
		for j := i + 1; j < n; j++ {
			hidden[i*n+j] = 1
		}
	}
	return dense.Of(dt, hidden, n, n)
}

// CheckCausalMask returns an error for a tensor that is not the CausalMask of context length n, or of any context
// length if n is 0. The tensor may have any type of numbers, or bool.
func CheckCausalMask(v *tensor.Dense, n int) error {
	switch {
	case v == nil:
		return errors.New("got nil, want the causal mask")
	case n > 0 && !slices.Equal(v.Shape(), []int{n, n}):
		return fmt.Errorf("shape %v, want (%d, %d): the causal mask of the context length", v.Shape(), n, n)
	case v.Dims() != 2 || v.Shape()[0] != v.Shape()[1]:
		return fmt.Errorf("shape %v, want (C, C): the causal mask of a context length", v.Shape())
	case v.RequiresIterator():
		v = v.Materialize().(*tensor.Dense)
	case v.DataOrder().IsColMajor():
		return errors.New("got a tensor in column-major order, want row-major")
	}
	n = v.Shape()[0]
	hidden, other := dense.NotZero(v, nil)
	switch {
	case hidden == nil:
		return fmt.Errorf("got %s, want numbers or bools", dense.TypeName(v.Dtype()))
	case len(hidden) != n*n:
		return fmt.Errorf("got %d elements, want %d", len(hidden), n*n)
	}
	for at, is := range hidden {
		i, j := at/n, at%n
		if is == (j > i) && at != other {
			continue
		}
		var want any = j > i
		if v.Dtype() != tensor.Bool {
			want = map[bool]int{false: 0, true: 1}[j > i]
		}
		return fmt.Errorf("got %v at (%d, %d), want %v: the causal mask is 1 above the diagonal, where keys "+
			"are hidden, and 0 elsewhere", reflect.ValueOf(v.Data()).Index(at), i, j, want)
	}
	return nil
}
