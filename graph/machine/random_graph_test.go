package machine_test

import (
	"fmt"
	"math"
	"slices"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/golden"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// randomGraph builds a graph of matrices and vectors from stock ops and ours.
type randomGraph struct {
	t     *rapid.T
	g     *G.ExprGraph
	dt    tensor.Dtype
	in    G.Nodes
	pool  G.Nodes  // matrices to compute with
	names []string // of the ops to draw from
}

func (r *randomGraph) input(name string, shape ...int) *G.Node {
	n := G.NewTensor(r.g, r.dt, len(shape), G.WithShape(shape...), G.WithName(name))
	r.in = append(r.in, n)
	return n
}

// drop returns dropout with a fixed key.
func (r *randomGraph) drop() graph.DropoutConfig {
	key := G.NewScalar(r.g, tensor.Int64, G.WithName("key"), G.WithValue(int64(7)))
	return graph.DropoutConfig{P: 0.5, Key: key, Site: len(r.pool)}
}

// feed binds new values to all inputs.
func (r *randomGraph) feed(t require.TestingT, round int) {
	for i, n := range r.in {
		v := make([]float64, n.Shape().TotalSize())
		for j := range v {
			v[j] = math.Sin(float64(1 + 7*round + 3*i + j*j))
		}
		require.NoError(t, G.Let(n, golden.Dense(r.dt, v, n.Shape()...)))
	}
}

// pick draws one of the nodes by its index, which rapid logs.
func (r *randomGraph) pick(from G.Nodes, what string) *G.Node {
	return from[rapid.IntRange(0, len(from)-1).Draw(r.t, what)]
}

// partner returns a node whose axis has the given length, a new input if there is none.
func (r *randomGraph) partner(axis, long int) *G.Node {
	var fit G.Nodes
	for _, n := range r.pool {
		if n.Shape()[axis] == long {
			fit = append(fit, n)
		}
	}
	if len(fit) == 0 {
		shape := []int{3, 3}
		shape[axis] = long
		fit = append(fit, r.input(fmt.Sprintf("partner%d", len(r.in)), shape...))
	}
	return r.pick(fit, "partner")
}

// twin returns a node of the shape of x.
func (r *randomGraph) twin(x *G.Node) *G.Node {
	var fit G.Nodes
	for _, n := range r.pool {
		if n.Shape()[0] == x.Shape()[0] && n.Shape()[1] == x.Shape()[1] {
			fit = append(fit, n)
		}
	}
	return r.pick(fit, "twin")
}

// ops are stock ops of Gorgonia, some of which return views, and our own.
var ops = map[string]func(r *randomGraph, x *G.Node) (*G.Node, error){
	"Add":          func(r *randomGraph, x *G.Node) (*G.Node, error) { return G.Add(x, r.twin(x)) },
	"Sub":          func(r *randomGraph, x *G.Node) (*G.Node, error) { return G.Sub(x, r.twin(x)) },
	"HadamardProd": func(r *randomGraph, x *G.Node) (*G.Node, error) { return G.HadamardProd(x, r.twin(x)) },
	"Tanh":         func(r *randomGraph, x *G.Node) (*G.Node, error) { return G.Tanh(x) },
	"Neg":          func(r *randomGraph, x *G.Node) (*G.Node, error) { return G.Neg(x) },
	"Mul":          func(r *randomGraph, x *G.Node) (*G.Node, error) { return G.Mul(x, r.partner(0, x.Shape()[1])) },
	"Transpose":    func(r *randomGraph, x *G.Node) (*G.Node, error) { return G.Transpose(x, 1, 0) },
	"Reshape": func(r *randomGraph, x *G.Node) (*G.Node, error) {
		return G.Reshape(x, tensor.Shape{x.Shape()[1], x.Shape()[0]})
	},
	"Concat": func(r *randomGraph, x *G.Node) (*G.Node, error) { return G.Concat(0, x, r.partner(1, x.Shape()[1])) },
	"Slice": func(r *randomGraph, x *G.Node) (*G.Node, error) {
		if x.Shape()[0] < 3 {
			return x, nil
		}
		return G.Slice(x, G.S(1, x.Shape()[0]))
	},
	"Row": func(r *randomGraph, x *G.Node) (*G.Node, error) { // a row, a view of x, to every row of x
		y, err := G.Slice(x, G.S(1))
		if err != nil {
			return nil, err
		}
		return graph.Add(x, y)
	},
	"Sum": func(r *randomGraph, x *G.Node) (*G.Node, error) { // a row of sums, for every row
		y, err := G.Sum(x, 0)
		if err != nil {
			return nil, err
		}
		return graph.Add(x, y)
	},

	"Flip": func(r *randomGraph, x *G.Node) (*G.Node, error) { // a view of x in another order, times x
		y, err := G.Reshape(x, x.Shape().Clone())
		if err != nil {
			return nil, err
		}
		return graph.Mul(x, y)
	},

	"graph.Softmax": func(r *randomGraph, x *G.Node) (*G.Node, error) { return graph.Softmax(x) },
	"graph.Tanh":    func(r *randomGraph, x *G.Node) (*G.Node, error) { return graph.Tanh(x) },
	"graph.Scale":   func(r *randomGraph, x *G.Node) (*G.Node, error) { return graph.Scale(x, 0.5) },
	"graph.Add":     func(r *randomGraph, x *G.Node) (*G.Node, error) { return graph.Add(x, r.twin(x)) },
	"graph.Mul":     func(r *randomGraph, x *G.Node) (*G.Node, error) { return graph.Mul(x, r.twin(x)) },
	"graph.MatMul": func(r *randomGraph, x *G.Node) (*G.Node, error) {
		return graph.MatMul(x, r.partner(0, x.Shape()[1]))
	},
	"graph.Scores": func(r *randomGraph, x *G.Node) (*G.Node, error) {
		return graph.Scores(x, r.partner(1, x.Shape()[1]))
	},
	"graph.Concat": func(r *randomGraph, x *G.Node) (*G.Node, error) {
		return graph.Concat(x, r.partner(0, x.Shape()[0]))
	},
	"graph.Heads": func(r *randomGraph, x *G.Node) (*G.Node, error) { // there and back
		y, err := graph.SplitHeads(x, x.Shape()[1])
		if err != nil {
			return nil, err
		}
		return graph.MergeHeads(y)
	},
	"graph.Tril": func(r *randomGraph, x *G.Node) (*G.Node, error) {
		y, err := graph.Scores(x, x)
		if err != nil {
			return nil, err
		}
		return graph.Tril(y)
	},
	"graph.DivideBySum": func(r *randomGraph, x *G.Node) (*G.Node, error) {
		y, err := graph.Exp(x)
		if err != nil {
			return nil, err
		}
		return graph.DivideBySum(y)
	},
	"graph.FusedAttention": func(r *randomGraph, x *G.Node) (*G.Node, error) {
		k := r.partner(1, x.Shape()[1])
		return graph.FusedAttention(x, k, k, graph.AttentionConfig{})
	},
	"graph.FusedAttention, causal": func(r *randomGraph, x *G.Node) (*G.Node, error) {
		return graph.FusedAttention(x, r.twin(x), x, graph.AttentionConfig{Mask: mask.Causal{}, Dropout: r.drop()})
	},
	"graph.Dropout": func(r *randomGraph, x *G.Node) (*G.Node, error) { return graph.Dropout(x, r.drop()) },
	"graph.Detach":  func(r *randomGraph, x *G.Node) (*G.Node, error) { return graph.Detach(x) },
}

// grow adds ops and returns a scalar that depends on every input.
func (r *randomGraph) grow(steps int) *G.Node {
	for i := range rapid.IntRange(1, 3).Draw(r.t, "inputs") {
		shape := rapid.SliceOfN(rapid.IntRange(2, 5), 2, 2).Draw(r.t, "shape")
		r.pool = append(r.pool, r.input(fmt.Sprintf("in%d", i), shape...))
	}
	for range steps {
		name := rapid.SampledFrom(r.names).Draw(r.t, "op")
		y, err := ops[name](r, r.pick(r.pool, "x"))
		require.NoError(r.t, err)
		if y.Shape().TotalSize() <= 100 { // so that sizes do not run away
			r.pool = append(r.pool, y)
		}
	}
	var loss *G.Node
	for _, n := range append(r.in, r.pool[len(r.pool)-1]) {
		squashed := G.Must(G.Sum(G.Must(G.Tanh(n))))
		if loss == nil {
			loss = squashed
			continue
		}
		loss = G.Must(G.Add(loss, squashed))
	}
	return loss
}

// opNames returns the sorted names of the ops, except those left out.
func opNames(without ...string) []string {
	var names []string
	for name := range ops {
		if !slices.Contains(without, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names) // so that a seed draws the same graph
	return names
}

// draw returns a random graph of the named ops, and its wanted nodes: the loss, all
// gradients and some intermediates.
func draw(t *rapid.T, names []string) (r *randomGraph, wanted G.Nodes) {
	dt := rapid.SampledFrom([]tensor.Dtype{tensor.Float32, tensor.Float64}).Draw(t, "type")
	r = &randomGraph{t: t, g: G.NewGraph(), dt: dt, names: names}
	loss := r.grow(rapid.IntRange(1, 15).Draw(t, "steps"))
	grads, err := G.Grad(loss, r.in...)
	require.NoError(t, err)
	wanted = append(append(wanted, loss), grads...)
	for range rapid.IntRange(0, 3).Draw(t, "intermediates") {
		wanted = append(wanted, r.pick(r.pool, "intermediate"))
	}
	return r, wanted
}
