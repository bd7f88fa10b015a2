package machine

import (
	"slices"

	"attention/internal/stock"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Adder is an op that can add its result to a sum. The bits are those of adding the op's result, up to the sign of
// zeros. The result itself then needs no memory: the gradient of an embedding, for example, is zero except in a few
// rows.
type Adder interface {
	G.Op
	// AddTo adds the op's result for its inputs to sum. It must not be called if Adds is false.
	AddTo(sum G.Value, in ...G.Value) error
	Adds() bool
}

// addition adds the result of an op to a sum; the sum is its first input, before the op's own inputs.
type addition struct {
	Adder
	inPlace []int // overwrites the sum, unless the op reads the sum too
}

var _ Overwriter = (*addition)(nil)

// additionOf returns an op, and its inputs, for a sum of two nodes one of which is used only in this sum; otherwise
// nil.
func additionOf(op *stock.Op, g wantedGraph) (*addition, G.Nodes) {
	if !op.IsSum() {
		return nil, nil
	}
	in := op.Inputs()
	for i, n := range in {
		if a, ok := n.Op().(Adder); ok && a.Adds() && g.OnlyOneReads(n) && !n.Shape().IsScalar() {
			sum, reads := in[1-i], g.Inputs(n)
			o := &addition{Adder: a}
			if !slices.Contains(reads, sum) {
				o.inPlace = []int{0}
			}
			return o, append(G.Nodes{sum}, reads...)
		}
	}
	return nil, nil
}

func (o *addition) OverwritesPrealloc() bool { return true }

func (o *addition) InPlace() []int { return o.inPlace }

func (o *addition) View() (input, from int) { return -1, 0 }

func (o *addition) UsePreallocDo(out G.Value, in ...G.Value) (G.Value, error) {
	if sum, ok := in[0].(*tensor.Dense); ok && sum.Uintptr() != out.Uintptr() {
		if err := tensor.Copy(out.(*tensor.Dense), sum); err != nil {
			return nil, err
		}
	}
	return out, o.AddTo(out, in[1:]...)
}
