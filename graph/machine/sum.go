package machine

import (
	"slices"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// sum is Gorgonia's + of two tensors of one shape, computed into planned memory; the stock
// op allocates its result in each run. Grad adds gradients with it.
type sum struct{ G.Op }

var _ Overwriter = sum{}

// isSum reports whether a node is such a +.
func isSum(n *G.Node, inputs G.Nodes) bool {
	op, ok := n.Op().(G.BinaryOp)
	if !ok || !op.IsBinary() || op.String() != "+ false" || len(inputs) != 2 {
		return false
	}
	a, b := inputs[0], inputs[1]
	return a.Dtype() == b.Dtype() && a.Dims() > 0 &&
		slices.Equal(a.Shape(), b.Shape()) && slices.Equal(a.Shape(), n.Shape())
}

func (s sum) OverwritesPrealloc() bool { return true }
func (s sum) InPlace() int             { return 0 }
func (s sum) View() (input, from int)  { return -1, 0 }

func (s sum) UsePreallocDo(into G.Value, in ...G.Value) (G.Value, error) {
	z, x, y := plain(into), plain(in[0]), plain(in[1])
	if z == nil || x == nil || y == nil {
		v, err := s.Do(in...)
		if err != nil {
			return nil, err
		}
		return into, tensor.Copy(into.(*tensor.Dense), v.(*tensor.Dense))
	}
	if z.Dtype() == tensor.Float32 {
		kernel.AddRows(z.Float32s(), x.Float32s(), y.Float32s())
	} else {
		kernel.AddRows(z.Float64s(), x.Float64s(), y.Float64s())
	}
	return z, nil
}

// plain returns v if its elements lie in row-major order, otherwise nil.
func plain(v G.Value) *tensor.Dense {
	if d, ok := v.(*tensor.Dense); ok && !d.RequiresIterator() && !d.DataOrder().IsColMajor() {
		return d
	}
	return nil
}
