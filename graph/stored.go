package graph

import (
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// BF16 is the type of a node with a weight in the form of its file: bfloat16, the upper half of a float32. Functions of
// this package accept such a node together with nodes of float32. MatMul and Linear read it in place as their second
// argument, and Embedding, PositionRows and LinearCrossEntropy as their weight: they widen only the rows that they
// need, with the bits of a float32 weight. For all other functions the whole weight is widened. A stored weight has no
// gradient, but gradients flow through products with it.
var BF16 = dense.BF16

// widened returns w in float32: a node of BF16 is widened, which is exact, and any other node is returned unchanged.
func widened(w *G.Node) (*G.Node, error) {
	if w == nil || w.Graph() == nil || w.Dtype() != BF16 {
		return w, nil
	}
	return apply(widening{}, w)
}

// widening is y = w in float32. It is an op because no other op changes the type.
type widening struct {
	passesNone
	sameShape
}

func (widening) spec() spec {
	return spec{name: "Widen", args: []arg{{name: "w", fixed: true, stored: true}}, spreads: true}
}

func (widening) forward(out *tensor.Dense, in []*tensor.Dense) error {
	kernel.Widen(out.Float32s(), dense.BF16s(in[0]))
	return nil
}

// takeFrom sets y to the numbers of a table that begin at element at. The table may be stored in bfloat16.
func takeFrom[F kernel.Float](y []F, table *tensor.Dense, at int) {
	if table.Dtype() == BF16 {
		kernel.Widen(any(y).([]float32), dense.BF16s(table)[at:][:len(y)])
		return
	}
	copy(y, dense.Floats[F](table)[at:])
}

// widenOthers returns the nodes; a node of BF16 is widened if the op does not read stored ones.
func widenOthers(args []arg, in G.Nodes) (G.Nodes, error) {
	for i, n := range in {
		if a := args[i]; a.stored || a.integer || a.anyNumber {
			continue
		}
		wide, err := widened(n)
		if err != nil {
			return nil, err
		}
		if wide != n {
			in = slices.Clone(in)
			in[i] = wide
		}
	}
	return in, nil
}

// computingType returns the type in which numbers of a type are computed.
func computingType(dt tensor.Dtype) tensor.Dtype {
	if dt == BF16 {
		return tensor.Float32
	}
	return dt
}

// isStored reports whether a node's type is one of BF16.
func isStored(t hm.Type) bool {
	of, ok := t.(G.TensorType)
	return ok && of.Of == hm.Type(BF16)
}
