package train

import (
	"fmt"
	"slices"

	"attention/internal/dense"

	"gorgonia.org/tensor"
)

// gradients is where the gradients of a run lie: in the machine's memory, or in copies.
type gradients struct {
	values []*tensor.Dense // of the last run, in the graph
	copies []*tensor.Dense // of those that cannot be written to there, else nil
}

// takeGradients sets the parameters' Grad to the gradients of the last run. They lie in the machine's
// memory, which the next run overwrites.
func (pr *program) takeGradients() error {
	g := &pr.gradients
	g.values = slices.Grow(g.values[:0], len(pr.grads))
	changed := len(g.copies) == 0
	for i, n := range pr.grads {
		v, ok := n.Value().(*tensor.Dense)
		if !ok {
			return fmt.Errorf("gradient of %s: got a %T, want a tensor", pr.params[i].Name, n.Value())
		}
		g.values = append(g.values, v)
		changed = changed || g.copies[i] == nil && v != pr.params[i].Grad
	}
	if changed { // the first run, or the first after the machine was planned anew
		g.copies = make([]*tensor.Dense, len(g.values))
		for i, v := range g.values {
			if !pr.isAlone(i) {
				g.copies[i] = newLike(pr.params[i].Value)
			}
			pr.params[i].Grad = v
		}
	}
	for i, c := range g.copies {
		if c == nil {
			continue
		}
		if v := g.values[i]; dense.IsRowMajor(v) {
			scaleTensor(c, v, 1) // a copy, on all cores
		} else if err := tensor.Copy(c, v); err != nil {
			return fmt.Errorf("gradient of %s: %w", pr.params[i].Name, err)
		}
		pr.params[i].Grad = c
	}
	return nil
}

// isAlone reports whether a gradient can be written to: whether nothing else that outlives the
// run shares its memory, as an input or another gradient may.
func (pr *program) isAlone(i int) bool {
	v := pr.gradients.values[i]
	if !pr.machine.Owns(v) || !dense.IsRowMajor(v) || !slices.Equal(v.Shape(), pr.params[i].Value.Shape()) {
		return false
	}
	for j, other := range pr.gradients.values {
		if j != i && overlap(v, other) {
			return false
		}
	}
	return true
}

// overlap reports whether two tensors share memory.
func overlap(x, y *tensor.Dense) bool {
	return x.Uintptr() < y.Uintptr()+y.MemSize() && y.Uintptr() < x.Uintptr()+x.MemSize()
}

// newLike returns a new tensor of another's type and shape.
func newLike(d *tensor.Dense) *tensor.Dense {
	return tensor.New(tensor.Of(d.Dtype()), tensor.WithShape(d.Shape().Clone()...))
}

// sizeOfCopies returns the bytes of the gradients that do not lie in the machine's memory.
func (g *gradients) sizeOfCopies() (bytes int) {
	for _, c := range g.copies {
		if c != nil {
			bytes += int(c.MemSize())
		}
	}
	return bytes
}
