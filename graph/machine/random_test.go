package machine_test

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"attention/graph"
	"attention/internal/golden"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// randomGraph builds a graph of nodes of up to four axes.
type randomGraph struct {
	t      *rapid.T
	g      *G.ExprGraph
	dt     tensor.Dtype
	in     G.Nodes
	pool   G.Nodes // to compute with
	wanted G.Nodes // inputs that no op has used yet
	drawn  []string
	extra  int
	sizes
}

// sizes bound the nodes of a graph.
type sizes struct{ fewest, most, shortest int } // numbers of axes; length of an axis

var (
	anySize  = sizes{1, 4, 1}
	matrices = sizes{2, 2, 2}
)

// draw returns a random graph of ops, and its wanted nodes: the loss, all gradients, nodes that no other op reads, and
// some intermediates.
func draw(t *rapid.T, ops map[string]drawer, s sizes, types ...tensor.Dtype) (r *randomGraph, wanted G.Nodes) {
	dt := rapid.SampledFrom(types).Draw(t, "type")
	r = &randomGraph{t: t, g: G.NewGraph(), dt: dt, sizes: s}
	loss := r.grow(ops)
	grads, err := G.Grad(loss, r.in...)
	require.NoError(t, err)
	wanted = append(append(append(wanted, loss), grads...), r.wanted...)
	for range r.upTo(3) {
		wanted = append(wanted, r.pick(r.pool, "intermediate"))
	}
	return r, wanted
}

// grow adds ops and returns a scalar that depends on every node that may be differentiated.
func (r *randomGraph) grow(ops map[string]drawer) *G.Node {
	names := slices.Sorted(maps.Keys(ops)) // so that a seed always draws the same graph
	for range r.upTo(3) {
		r.any()
	}
	order := rapid.Permutation(names).Draw(r.t, "ops") // not drawn one at a time, which favours the first names
	for i, in := range rapid.SliceOfN(rapid.Bool(), maxSteps, maxSteps).Draw(r.t, "steps") {
		if !in {
			continue
		}
		name := order[i]
		y, err := ops[name](r)
		require.NoError(r.t, err, name)
		r.drawn = append(r.drawn, name)
		if n := y.Shape().TotalSize(); n <= 100 && n > 0 { // so that sizes do not grow without limit
			r.pool = append(r.pool, y)
		}
	}
	var loss *G.Node
	for _, n := range r.pool {
		squashed := G.Must(G.Tanh(n))
		if !n.Shape().IsScalar() {
			squashed = G.Must(G.Sum(squashed))
		}
		if loss == nil {
			loss = squashed
			continue
		}
		loss = G.Must(G.Add(loss, squashed))
	}
	return loss
}

const maxSteps = 25

// count returns a new number each time.
func (r *randomGraph) count() int {
	r.extra++
	return r.extra
}

func (r *randomGraph) upTo(n int) int { return rapid.IntRange(1, n).Draw(r.t, "up to") }

func (r *randomGraph) shape(rank int) tensor.Shape {
	return rapid.SliceOfN(rapid.IntRange(r.shortest, 4), rank, rank).Draw(r.t, "shape")
}

func (r *randomGraph) input(shape tensor.Shape) *G.Node {
	name := G.WithName(fmt.Sprintf("in%d", r.count()))
	var n *G.Node
	if shape.IsScalar() {
		n = G.NewScalar(r.g, r.dt, name)
	} else {
		n = G.NewTensor(r.g, r.dt, len(shape), G.WithShape(shape...), name)
	}
	r.in, r.pool = append(r.in, n), append(r.pool, n)
	return n
}

// pick draws one of the nodes by its index, which rapid logs.
func (r *randomGraph) pick(from G.Nodes, what string) *G.Node {
	return from[rapid.IntRange(0, len(from)-1).Draw(r.t, what)]
}

// where returns a node for which fits is true, or a new input.
func (r *randomGraph) where(fits func(tensor.Shape) bool, otherwise func() tensor.Shape) *G.Node {
	var fit G.Nodes
	for _, n := range r.pool {
		if fits(n.Shape()) {
			fit = append(fit, n)
		}
	}
	if i := rapid.IntRange(0, len(fit)).Draw(r.t, "node"); i < len(fit) {
		return fit[i]
	}
	return r.input(otherwise())
}

// of returns a node with the given number of axes.
func (r *randomGraph) of(rank int) *G.Node {
	return r.where(func(s tensor.Shape) bool { return len(s) == rank }, func() tensor.Shape { return r.shape(rank) })
}

func (r *randomGraph) matrix() *G.Node { return r.of(2) }

// node returns any node.
func (r *randomGraph) node() *G.Node { return r.pick(r.pool, "any") }

// any returns any node except single numbers.
func (r *randomGraph) any() *G.Node { return r.rank(r.fewest, r.most) }

// rank returns a node with a number of axes between two limits.
func (r *randomGraph) rank(fewest, most int) *G.Node {
	return r.of(rapid.IntRange(fewest, most).Draw(r.t, "rank"))
}

// like returns a node of the given shape.
func (r *randomGraph) like(shape tensor.Shape) *G.Node {
	return r.where(func(s tensor.Shape) bool { return slices.Equal(s, shape) }, func() tensor.Shape { return shape })
}

// twin returns a node of the shape of x.
func (r *randomGraph) twin(x *G.Node) *G.Node { return r.like(x.Shape()) }

// partner returns a matrix with the given length along an axis.
func (r *randomGraph) partner(axis, long int) *G.Node {
	return r.where(func(s tensor.Shape) bool { return len(s) == 2 && s[axis] == long }, func() tensor.Shape {
		shape := tensor.Shape{3, 3}
		shape[axis] = long
		return shape
	})
}

// positive returns numbers between ½ and 1.5.
func (r *randomGraph) positive(x *G.Node) *G.Node {
	return G.Must(G.Add(G.Must(G.Square(G.Must(G.Tanh(x)))), r.number(0.5)))
}

// number returns a constant.
func (r *randomGraph) number(v float64) *G.Node {
	if r.dt == tensor.Float32 {
		return G.NewConstant(float32(v))
	}
	return G.NewConstant(v)
}

func (r *randomGraph) axis(x *G.Node) int { return rapid.IntRange(0, x.Dims()-1).Draw(r.t, "axis") }

// order returns the axes of a node in any order.
func (r *randomGraph) order(x *G.Node) []int {
	axes := make([]int, x.Dims())
	for i := range axes {
		axes[i] = i
	}
	return rapid.Permutation(axes).Draw(r.t, "order")
}

// axes returns some axes of a node, at least one.
func (r *randomGraph) axes(x *G.Node) []int {
	axes := r.order(x)[:r.upTo(x.Dims())]
	slices.Sort(axes)
	return axes
}

// drop returns dropout with a fixed key.
func (r *randomGraph) drop() graph.DropoutConfig {
	key := G.NewScalar(r.g, tensor.Int64, G.WithName("key"), G.WithValue(int64(7)))
	return graph.DropoutConfig{P: 0.5, Key: key, Site: r.count()}
}

// feed binds new values to all inputs, in row-major order or with any strides.
func (r *randomGraph) feed(t require.TestingT, round int, anyStrides bool) {
	for i, n := range r.in {
		v := make([]float64, n.Shape().TotalSize())
		for j := range v {
			v[j] = math.Sin(float64(1 + 7*round + 3*i + j*j))
		}
		switch {
		case n.Shape().IsScalar() && r.dt == tensor.Float32:
			require.NoError(t, G.Let(n, float32(v[0])))
		case n.Shape().IsScalar():
			require.NoError(t, G.Let(n, v[0]))
		case anyStrides:
			require.NoError(t, G.Let(n, strided(t, r.dt, v, n.Shape(), (i+round)%3)))
		default:
			require.NoError(t, G.Let(n, golden.Dense(r.dt, v, n.Shape()...)))
		}
	}
}

// strided returns a tensor whose elements have one of three memory layouts: row-major order, row-major order with gaps
// between the rows, or column-major order.
func strided(t require.TestingT, dt tensor.Dtype, v []float64, shape tensor.Shape, way int) *tensor.Dense {
	rank, last := len(shape), shape[len(shape)-1]
	switch {
	case way == 1 && last > 1:
		wide := shape.Clone()
		wide[rank-1]++
		gaps := make([]float64, wide.TotalSize())
		for i, x := range v {
			gaps[i/last*(last+1)+i%last] = x
		}
		parts := make([]tensor.Slice, rank)
		parts[rank-1] = G.S(0, last)
		d, err := golden.Dense(dt, gaps, wide...).Slice(parts...)
		require.NoError(t, err)
		return d.(*tensor.Dense)
	case way == 2 && rank > 1:
		back := slices.Clone(shape)
		slices.Reverse(back)
		turned := make([]float64, len(v))
		for i, x := range v {
			to := 0
			for axis, rest := rank-1, i; axis >= 0; axis-- {
				to = to*shape[axis] + rest%shape[axis]
				rest /= shape[axis]
			}
			turned[to] = x
		}
		d := golden.Dense(dt, turned, back...)
		require.NoError(t, d.T())
		return d
	}
	return golden.Dense(dt, v, shape...)
}
