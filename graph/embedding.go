package graph

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Embedding returns rows of a table (torch.nn.functional.embedding), as (…, E): weight
// (V, E), ids int of any shape (…) with 0 ≤ id < V. Ids may repeat; their gradients add
// up.
func Embedding(weight, ids *G.Node) (*G.Node, error) { return embed(weight, ids, noPadding) }

// PaddedEmbedding is Embedding with a row paddingIdx for padding (torch's padding_idx), which is not trained: its
// gradient is 0. 0 ≤ paddingIdx < V.
func PaddedEmbedding(weight, ids *G.Node, paddingIdx int) (*G.Node, error) {
	if paddingIdx < 0 {
		return nil, fmt.Errorf("graph: Embedding: padding_idx: got %d, want at least 0", paddingIdx)
	}
	return embed(weight, ids, paddingIdx)
}

const noPadding = -1

func embed(weight, ids *G.Node, padding int) (*G.Node, error) {
	return applyTyped(embedding[float32]{Padding: padding}, embedding[float64]{Padding: padding}, weight, ids)
}

// constantIDs returns ids that do not change, in the graph of x. name must differ for different ids: Gorgonia merges
// inputs with the same name and shape.
func constantIDs(x *G.Node, name string, ids []int) *G.Node {
	v := tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(ids))
	return G.NewVector(x.Graph(), tensor.Int, G.WithShape(len(ids)), G.WithValue(v), G.WithName("constant "+name))
}

// embedding copies rows of a table. It is an op because no other op reads rows by integers.
type embedding[F kernel.Float] struct {
	Padding int // the row without a gradient, or noPadding
}

func (embedding[F]) spec() spec {
	return spec{name: "Embedding", args: []arg{{name: "weight", stored: true}, {name: "ids", integer: true}},
		spreads: true}
}

func (o embedding[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	weight, ids := in[0], in[1]
	if weight.Dims() != 2 {
		return nil, &ShapeError{"Embedding", "weight", weight, "(V, E)"}
	}
	if o.Padding >= weight[0] {
		return nil, fmt.Errorf("graph: Embedding: padding_idx: got %d, want less than V=%d", o.Padding, weight[0])
	}
	return append(ids.Clone(), weight[1]), nil
}

func (embedding[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	v, e := in[0].Shape()[0], in[0].Shape()[1]
	y, ids := dense.Floats[F](out), dense.Ints(in[1])
	if err := checkIDs(ids, v); err != nil {
		return err
	}
	for i, id := range ids {
		takeFrom(y[i*e:(i+1)*e], in[0], int(id)*e)
	}
	return nil
}

func checkIDs(ids []int64, v int) error {
	for i, id := range ids {
		if id < 0 || id >= int64(v) {
			return fmt.Errorf("graph: Embedding: ids: got %d at %d, want 0 <= id < V=%d", id, i, v)
		}
	}
	return nil
}

// y[i] = weight[id[i]]:  dweight[v] = Σ dy[i] over the i with id[i] = v; 0 for the padding.
func (o embedding[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	if dense.IsStored(in[0].Dtype()) {
		return nil, nil
	}
	return only(apply(embeddingBackward[F]{V: in[0].Shape()[0], Padding: o.Padding}, in[1], dy))
}

type embeddingBackward[F kernel.Float] struct {
	isGradient
	V, Padding int
}

func (o embeddingBackward[F]) spec() spec {
	return spec{name: "EmbeddingBackward", args: []arg{{name: "ids", integer: true}, {name: "dy"}}, addTo: o.addTo}
}

func (o embeddingBackward[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	return tensor.Shape{o.V, last(in[1])}, nil
}

func (o embeddingBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	e := last(out.Shape())
	dw, dy := dense.Floats[F](out), dense.Floats[F](in[1])
	ids := dense.Ints(in[0])
	if err := checkIDs(ids, out.Shape()[0]); err != nil {
		return err
	}
	clear(dw)
	for i, id := range ids {
		if id == int64(o.Padding) {
			continue
		}
		row := dw[int(id)*e : (int(id)+1)*e]
		for j, v := range dy[i*e : (i+1)*e] {
			row[j] += v
		}
	}
	return nil
}

// addTo adds the gradient to a sum; the rows of each id are added up before.
func (o embeddingBackward[F]) addTo(sum *tensor.Dense, in []*tensor.Dense) error {
	e := last(sum.Shape())
	dw, dy, ids := dense.Floats[F](sum), dense.Floats[F](in[1]), dense.Ints(in[0])
	if err := checkIDs(ids, sum.Shape()[0]); err != nil {
		return err
	}
	room := orders.Get().(*[]int)
	defer orders.Put(room)
	order := slices.Grow((*room)[:0], len(ids))
	for i, id := range ids {
		if id != int64(o.Padding) {
			order = append(order, i)
		}
	}
	*room = order
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(ids[i], ids[j]) })
	for lo, hi := 0, 0; lo < len(order); lo = hi {
		id := ids[order[lo]]
		for hi < len(order) && ids[order[hi]] == id {
			hi++
		}
		for j, v := range dw[int(id)*e : (int(id)+1)*e] {
			var total F
			for _, i := range order[lo:hi] {
				total += dy[i*e+j]
			}
			dw[int(id)*e+j] = v + total
		}
	}
	return nil
}

// orders is a pool of slices of positions.
var orders = sync.Pool{New: func() any { return new([]int) }}
