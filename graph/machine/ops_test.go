package machine_test

import (
	"hash"
	"hash/fnv"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"

	"github.com/chewxy/hm"
	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// stub is a foreign op of one input.
type stub struct {
	name  string
	shape tensor.Shape // of the result
	of    tensor.Dtype // of the result
	do    func(x G.Value) (G.Value, error)
}

func (s stub) Arity() int                                     { return 1 }
func (s stub) InferShape(...G.DimSizer) (tensor.Shape, error) { return s.shape, nil }
func (s stub) Do(in ...G.Value) (G.Value, error)              { return s.do(in[0]) }
func (s stub) ReturnsPtr() bool                               { return true }
func (s stub) CallsExtern() bool                              { return false }
func (s stub) OverwritesInput() int                           { return -1 }
func (s stub) WriteHash(h hash.Hash)                          { _, _ = h.Write([]byte(s.name)) }
func (s stub) String() string                                 { return s.name }

func (s stub) Type() hm.Type {
	return hm.NewFnType(hm.TypeVariable('a'), G.TensorType{Dims: s.shape.Dims(), Of: s.of})
}

func (s stub) Hashcode() uint32 {
	h := fnv.New32a()
	s.WriteHash(h)
	return h.Sum32()
}

var _ machine.Overwriter = overwriting{}

// overwriting is a stub that computes into planned memory.
type overwriting struct {
	stub
	into func(into, x G.Value) (G.Value, error)
}

func (o overwriting) UsePreallocDo(into G.Value, in ...G.Value) (G.Value, error) {
	return o.into(into, in[0])
}
func (o overwriting) OverwritesPrealloc() bool { return true }
func (o overwriting) View() (input, from int)  { return -1, 0 }
func (o overwriting) InPlace() []int           { return nil }

func apply(t require.TestingT, op G.Op, x *G.Node) *G.Node {
	n, err := G.ApplyOp(op, x)
	require.NoError(t, err)
	return n
}

// firstRow is an op that returns a view of the first row of a matrix.
func firstRow(dt tensor.Dtype, cols int) stub {
	return stub{"first row", tensor.Shape{cols}, dt, func(x G.Value) (G.Value, error) {
		return x.(*tensor.Dense).Slice(G.S(0))
	}}
}

// A drawer adds an op on nodes of a random graph.
type drawer func(r *randomGraph) (*G.Node, error)

// ownOps are our ops and a foreign one.
var ownOps = map[string]drawer{
	"foreign": func(r *randomGraph) (*G.Node, error) {
		x := r.matrix()
		y, err := graph.Add(x, apply(r.t, firstRow(r.dt, x.Shape()[1]), x))
		r.wanted = append(r.wanted, y)
		return x, err // since Gorgonia has no gradient for the other
	},
	"graph.Softmax": func(r *randomGraph) (*G.Node, error) { return graph.Softmax(r.matrix()) },
	"graph.Tanh":    func(r *randomGraph) (*G.Node, error) { return graph.Tanh(r.any()) },
	"graph.Scale":   func(r *randomGraph) (*G.Node, error) { return graph.Scale(r.matrix(), 0.5) },
	"graph.Add": func(r *randomGraph) (*G.Node, error) {
		x := r.matrix()
		return graph.Add(x, r.twin(x))
	},
	"graph.Mul": func(r *randomGraph) (*G.Node, error) {
		x := r.matrix()
		return graph.Mul(x, r.twin(x))
	},
	"graph.MatMul": func(r *randomGraph) (*G.Node, error) {
		x := r.matrix()
		return graph.MatMul(x, r.partner(0, x.Shape()[1]))
	},
	"graph.Scores": func(r *randomGraph) (*G.Node, error) {
		x := r.matrix()
		return graph.Scores(x, r.partner(1, x.Shape()[1]))
	},
	"graph.Concat": func(r *randomGraph) (*G.Node, error) {
		x := r.matrix()
		return graph.Concat(x, r.partner(0, x.Shape()[0]))
	},
	"graph.Heads": func(r *randomGraph) (*G.Node, error) { // there and back
		x := r.matrix()
		y, err := graph.SplitHeads(x, x.Shape()[1])
		if err != nil {
			return nil, err
		}
		return graph.MergeHeads(y)
	},
	"graph.Tril": func(r *randomGraph) (*G.Node, error) {
		x := r.matrix()
		y, err := graph.Scores(x, x)
		if err != nil {
			return nil, err
		}
		return graph.Tril(y)
	},
	"graph.DivideBySum": func(r *randomGraph) (*G.Node, error) {
		y, err := graph.Exp(r.matrix())
		if err != nil {
			return nil, err
		}
		return graph.DivideBySum(y)
	},
	"graph.FusedAttention": func(r *randomGraph) (*G.Node, error) {
		x := r.matrix()
		k := r.partner(1, x.Shape()[1])
		return fusedAttention(x, k, k, graph.AttentionConfig{})
	},
	"graph.FusedAttention, causal": func(r *randomGraph) (*G.Node, error) {
		x := r.matrix()
		return fusedAttention(x, r.twin(x), x, graph.AttentionConfig{Mask: mask.Causal{}, Dropout: r.drop()})
	},
	"graph.Dropout": func(r *randomGraph) (*G.Node, error) { return graph.Dropout(r.matrix(), r.drop()) },
	"graph.Detach":  func(r *randomGraph) (*G.Node, error) { return graph.Detach(r.matrix()) },
}

// ramp returns a tensor of distinct values.
func ramp(dt tensor.Dtype, shape ...int) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...),
		tensor.WithBacking(tensor.Range(dt, 1, 1+tensor.Shape(shape).TotalSize())))
}

func input(g *G.ExprGraph, name string, v *tensor.Dense) *G.Node {
	return G.NewTensor(g, v.Dtype(), v.Dims(), G.WithName(name), G.WithShape(v.Shape()...), G.WithValue(v))
}

func must(t require.TestingT) func(n *G.Node, err error) *G.Node {
	return func(n *G.Node, err error) *G.Node {
		require.NoError(t, err)
		return n
	}
}

func fusedAttention(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error) {
	r, err := graph.FusedAttention(graph.FusedInputs{Query: q, Key: k, Value: v}, c)
	return r.Out, err
}
