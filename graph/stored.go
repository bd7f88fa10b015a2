package graph

import (
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// BF16 is the type of a node with a weight in the form of its file: bfloat16, the upper half of a float32. Weights in
// the blocks of a GGUF file have types of their own, which are used in the same way.
//
// Functions of this package accept such a node together with nodes of float32. MatMul and Linear read it in place as
// their second argument, and Embedding, PositionRows and LinearCrossEntropy as their weight: they widen only the rows
// that they need, with the bits of a float32 weight. For all other functions the whole weight is widened. A stored
// weight has no gradient, but gradients flow through products with it.
var BF16 = dense.BF16

// widened returns w in float32: a node of a stored type is widened, which is exact. Any other node is returned unchanged.
func widened(w *G.Node) (*G.Node, error) {
	if w == nil || w.Graph() == nil || !dense.IsStored(w.Dtype()) {
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
	dense.Widen(out.Float32s(), in[0], 0)
	return nil
}

// takeFrom sets y to the numbers of a table that begin at element at. The table may be stored in bfloat16.
func takeFrom[F kernel.Float](y []F, table *tensor.Dense, at int) {
	if dense.IsStored(table.Dtype()) {
		dense.Widen(any(y).([]float32), table, at)
		return
	}
	copy(y, dense.Floats[F](table)[at:])
}

// widenOthers returns the nodes; a node of a stored type is widened if the op does not read stored ones.
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
	if dense.IsStored(dt) {
		return tensor.Float32
	}
	return dt
}

// isStored reports whether a node's type is one of a stored weight.
func isStored(t hm.Type) bool {
	of, ok := t.(G.TensorType)
	if !ok {
		return false
	}
	dt, ok := of.Of.(tensor.Dtype)
	return ok && dense.IsStored(dt)
}

// weightMatrix returns a weight, which may be stored, as a matrix.
func weightMatrix[F kernel.Float](w *tensor.Dense) kernel.Matrix[F] {
	if dense.IsStored(w.Dtype()) {
		return dense.StoredMatrix[F](w, last(w.Shape()))
	}
	return kernel.Rows(dense.Floats[F](w), last(w.Shape()))
}
