package stock_test

import (
	"fmt"
	"math"
	"testing"

	tensors "attention/internal/dense"
	"attention/internal/stock"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A stockCase is one of Gorgonia's functions, applied to inputs of these shapes.
type stockCase struct {
	name   string
	shapes []tensor.Shape
	build  func(in G.Nodes) (*G.Node, error)
	by     stock.By // of the result
	// For results that Gorgonia's own machine computes wrongly, naive returns the expected result.
	naive  func(in [][]float64) []float64
	noGrad bool // the gradient is also wrong, or there is none
	// The type of the op of the first input's gradient, if that is an op of its own.
	gradient string
}

// checkAll checks cases of one family.
func checkAll(t *testing.T, cases []stockCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.checkValues(t)
			c.checkAllocations(t)
		})
	}
}

// checkValues compares the result and the gradients of a case, in both types and for inputs stored in several ways,
// with Gorgonia's machine in float64.
func (c stockCase) checkValues(t *testing.T) {
	want, wantGrads := c.onTape(t)
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		for _, stored := range []func(*tensor.Dense) *tensor.Dense{asIs, asView, asTransposed, asColumns} {
			y, grads, values := c.graph(t, dt, stored)
			op := stock.Of(y, asBuilt{})
			require.NotNil(t, op, "%v is not known", y.Op())
			require.Equal(t, c.by, op.By())
			c.compare(t, dt, want, evaluate(t, y, values), "result")
			for i, g := range grads {
				c.compare(t, dt, wantGrads[i], evaluate(t, g, values), fmt.Sprint("gradient of input ", i))
			}
		}
	}
}

// checkAllocations requires that neither the op nor those of its gradients allocate anything.
func (c stockCase) checkAllocations(t *testing.T) {
	y, grads, values := c.graph(t, tensor.Float32, asIs)
	for i, n := range append(grads, y) {
		if n.Op() == nil {
			continue
		}
		op := stock.Of(n, asBuilt{})
		require.NotNil(t, op, "%v is not known", n.Op())
		if op.By() != stock.Nothing {
			requireNoAllocations(t, n, values)
		}
		if i == 0 && c.gradient != "" {
			require.Equal(t, c.gradient, fmt.Sprintf("%T", n.Op()))
		}
	}
}

func (c stockCase) compare(t *testing.T, dt tensor.Dtype, want []float64, got G.Value, what string) {
	eps := 1e-12
	if dt == tensor.Float32 {
		eps = 2e-6
	}
	g := tensors.Float64s(got)
	require.Len(t, g, len(want), what)
	largest := 1.0
	for _, v := range want {
		largest = max(largest, math.Abs(v))
	}
	for i, w := range want {
		if math.IsNaN(w) || math.IsInf(w, 0) {
			require.Equal(t, fmt.Sprint(w), fmt.Sprint(g[i]), what)
			continue
		}
		if !(math.Abs(w-g[i]) <= eps*largest) { // require would take too long
			require.InDelta(t, w, g[i], eps*largest, "%s, element %d", what, i)
		}
	}
}

// graph builds the case and, unless it has none, the gradients of the weighted sum of its elements.
func (c stockCase) graph(t *testing.T, dt tensor.Dtype, stored func(*tensor.Dense) *tensor.Dense) (
	y *G.Node, grads G.Nodes, values map[*G.Node]G.Value) {
	g := G.NewGraph()
	values = map[*G.Node]G.Value{}
	var in G.Nodes
	input := func(name string, s tensor.Shape) *G.Node {
		x := numbersFor(len(values), s.TotalSize())
		if s.IsScalar() {
			n := G.NewScalar(g, dt, G.WithName(name))
			values[n] = G.NewF64(x[0])
			if dt == tensor.Float32 {
				values[n] = G.NewF32(float32(x[0]))
			}
			return n
		}
		n := G.NewTensor(g, dt, s.Dims(), G.WithShape(s...), G.WithName(name))
		values[n] = stored(dense(dt, x, s...))
		return n
	}
	for i, s := range c.shapes {
		in = append(in, input(fmt.Sprint("x", i), s))
	}
	y, err := c.build(in)
	require.NoError(t, err)
	if c.noGrad {
		return y, nil, values
	}
	up := input("up", y.Shape())
	loss := G.Must(G.HadamardProd(y, up))
	if !loss.Shape().IsScalar() {
		loss = G.Must(G.Sum(loss))
	}
	grads, err = G.Grad(loss, in...)
	require.NoError(t, err)
	return y, grads, values
}

// onTape returns the result and the gradients by Gorgonia's machine.
func (c stockCase) onTape(t *testing.T) (result []float64, grads [][]float64) {
	y, nodes, values := c.graph(t, tensor.Float64, asIs)
	for n, v := range values {
		require.NoError(t, G.Let(n, v))
	}
	if c.naive != nil {
		var in [][]float64
		for _, n := range inputsInOrder(y.Graph(), len(c.shapes)) {
			in = append(in, tensors.Float64s(values[n]))
		}
		result = c.naive(in)
		if c.noGrad {
			return result, nil
		}
	}
	nodes = append(nodes, y)
	read := make([]G.Value, len(nodes))
	for i, n := range nodes {
		G.Read(n, &read[i])
	}
	tape := G.NewTapeMachine(y.Graph())
	require.NoError(t, tape.RunAll())
	require.NoError(t, tape.Close())
	for _, v := range read {
		grads = append(grads, tensors.Float64s(v))
	}
	if result == nil {
		result = grads[len(nodes)-1]
	}
	return result, grads[:len(nodes)-1]
}

// inputsInOrder returns the inputs of a graph.
func inputsInOrder(g *G.ExprGraph, n int) (in G.Nodes) {
	for i := range n {
		in = append(in, g.ByName(fmt.Sprint("x", i))[0])
	}
	return in
}

// inputsOf returns the nodes to which the op of a node is applied.
func inputsOf(n *G.Node) (in G.Nodes) {
	for it := n.Graph().From(n.ID()); it != nil && it.Next(); {
		in = append(in, it.Node().(*G.Node))
	}
	return in
}

// asBuilt is the graph of a node, all of whose nodes are wanted.
type asBuilt struct{}

func (asBuilt) Inputs(n *G.Node) G.Nodes { return inputsOf(n) }

func (asBuilt) OnlyOneReads(*G.Node) bool { return false }

// evaluate returns a node's value: each op is computed by this package, or by Gorgonia where it does not.
func evaluate(t require.TestingT, n *G.Node, values map[*G.Node]G.Value) G.Value {
	if v, ok := values[n]; ok {
		return v
	}
	if n.Op() == nil {
		return n.Value()
	}
	op := stock.Of(n, asBuilt{})
	from := inputsOf(n)
	if op != nil {
		from = op.Inputs()
	}
	var in []G.Value
	for _, x := range from {
		in = append(in, evaluate(t, x, values))
	}
	switch {
	case op == nil:
		v, err := n.Op().Do(in...)
		require.NoError(t, err)
		return v
	case op.Value() != nil:
		return op.Value()
	}
	into := newValue(n)
	if i, at := op.View(); i >= 0 {
		x := tensors.Float64s(in[i])
		return dense(n.Dtype(), x[at:at+n.Shape().TotalSize()], n.Shape()...)
	}
	v, err := op.UsePreallocDo(into, in...)
	require.NoError(t, err)
	return v
}

// newValue returns memory for a node's value, full of NaN.
func newValue(n *G.Node) G.Value {
	switch {
	case n.Shape().IsScalar() && n.Dtype() == tensor.Float32:
		return G.NewF32(float32(math.NaN()))
	case n.Shape().IsScalar():
		return G.NewF64(math.NaN())
	}
	if n.Dtype() == tensor.Bool {
		return tensor.New(tensor.WithShape(n.Shape()...), tensor.Of(tensor.Bool))
	}
	x := make([]float64, n.Shape().TotalSize())
	for i := range x {
		x[i] = math.NaN()
	}
	return dense(n.Dtype(), x, n.Shape()...)
}

// requireNoAllocations requires that a run of an op allocates nothing.
func requireNoAllocations(t *testing.T, y *G.Node, values map[*G.Node]G.Value) {
	op := stock.Of(y, asBuilt{})
	require.NotNil(t, op)
	in, each := make([]G.Value, len(op.Inputs())), make([]G.Value, len(op.Inputs()))
	for i, n := range op.Inputs() {
		in[i] = evaluate(t, n, values)
	}
	into := newValue(y)
	least := math.Inf(1)
	// The collector empties pools at times, and the race detector a fourth at random.
	for tries := 0; tries < 1000 && least > 0; tries++ {
		least = min(least, testing.AllocsPerRun(1, func() {
			copy(each, in)
			if _, err := op.UsePreallocDo(into, each...); err != nil {
				panic(err)
			}
		}))
	}
	require.Zero(t, least, "allocations of %v", y.Op())
}
