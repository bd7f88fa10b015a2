package machine_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/golden"
	"attention/internal/stock"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// bits returns the bits of a value's elements.
func bits(t require.TestingT, v G.Value) []uint64 {
	var b []uint64
	for _, x := range elements(t, v) {
		b = append(b, math.Float64bits(x))
	}
	return b
}

// elements returns a value's elements.
func elements(t require.TestingT, v G.Value) (all []float64) {
	switch d := v.Data().(type) {
	case []float64:
		return d
	case []float32:
		for _, x := range d {
			all = append(all, float64(x))
		}
	case float64:
		return []float64{d}
	case float32:
		return []float64{float64(d)}
	default:
		require.Fail(t, "value", "got %T", d)
	}
	return all
}

// For any graph of float64, our machine returns what Gorgonia's does, up to the last digits of functions like exp and
// what the ops behind make of them, in every run and for any inputs. Reshape is left out: on Gorgonia's machine its result shares the memory of its
// input, which a later op then overwrites.
func TestRandomGraphsRunAsOnGorgonia(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, wanted := draw(t, opNames("Reshape", "Flip"), tensor.Float64)
		ours, err := machine.New(wanted...)
		require.NoError(t, err)
		read := make([]G.Value, len(wanted))
		for i, n := range wanted {
			G.Read(n, &read[i])
		}
		tape := G.NewTapeMachine(r.g)
		defer tape.Close()
		for round := range 3 {
			r.feed(t, round)
			require.NoError(t, ours.RunAll())
			got := make([]G.Value, len(wanted))
			for i, n := range wanted {
				v, err := G.CloneValue(n.Value())
				require.NoError(t, err)
				got[i] = v
			}
			require.NoError(t, tape.RunAll())
			tape.Reset()
			for i, n := range wanted {
				requireClose(t, read[i], got[i], fmt.Sprintf("round %d, wanted %d: %v", round, i, n))
			}
		}
	})
}

// For any op, our machine returns the bits of one that shares no memory: each op computes
// from copies of its inputs into new memory.
func TestRandomGraphsRunAsOpByOp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, wanted := draw(t, opNames(), tensor.Float32, tensor.Float64)
		ours, err := machine.New(wanted...)
		require.NoError(t, err)
		for round := range 3 {
			r.feed(t, round)
			want := opByOp(t, r.g)
			require.NoError(t, ours.RunAll())
			for i, n := range wanted {
				require.Equal(t, bits(t, want[n]), bits(t, n.Value()), "round %d, wanted %d: %v", round, i, n)
			}
			for _, n := range r.in {
				require.Equal(t, bits(t, want[n]), bits(t, n.Value()), "input %v", n)
			}
		}
	})
}

// opByOp returns the value of every node of a graph, computed without shared memory.
func opByOp(t require.TestingT, g *G.ExprGraph) map[*G.Node]G.Value {
	values := map[*G.Node]G.Value{}
	for _, n := range g.AllNodes() { // an op comes after its inputs
		if n.Op() == nil {
			v, err := G.CloneValue(n.Value())
			require.NoError(t, err)
			values[n] = v
			continue
		}
		values[n] = compute(t, n, values)
	}
	return values
}

// requireClose requires the elements of two values to agree to a few of the last digits of their largest.
func requireClose(t require.TestingT, want, got G.Value, what string) {
	w, g := elements(t, want), elements(t, got)
	require.Len(t, g, len(w), what)
	largest := 1.0
	for _, v := range w {
		largest = max(largest, math.Abs(v))
	}
	require.InDeltaSlice(t, w, g, 1e-9*largest, what)
}

// inputsOf returns what an op of the graph is applied to.
func inputsOf(n *G.Node) (in G.Nodes) {
	for it := n.Graph().From(n.ID()); it != nil && it.Next(); {
		in = append(in, it.Node().(*G.Node))
	}
	return in
}

// compute returns the value of a node, computed in new memory from copies of other nodes' values.
func compute(t require.TestingT, n *G.Node, values map[*G.Node]G.Value) G.Value {
	op := stock.Of(n, inputsOf)
	stands := op == nil || op.Value() != nil || op.By() == stock.Nothing
	from := inputsOf(n)
	if !stands {
		from = op.Inputs()
	}
	var in []G.Value
	for _, x := range from {
		v, err := G.CloneValue(values[x])
		require.NoError(t, err)
		in = append(in, v)
	}
	if stands {
		v, err := n.Op().Do(in...)
		require.NoError(t, err)
		return v
	}
	var into G.Value = G.NewF64(math.NaN())
	switch {
	case n.Shape().IsScalar() && n.Dtype() == tensor.Float32:
		into = G.NewF32(float32(math.NaN()))
	case !n.Shape().IsScalar():
		into = tensor.New(tensor.Of(n.Dtype()), tensor.WithShape(n.Shape()...))
	}
	v, err := op.UsePreallocDo(into, in...)
	require.NoError(t, err)
	return v
}

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
func draw(t *rapid.T, names []string, types ...tensor.Dtype) (r *randomGraph, wanted G.Nodes) {
	dt := rapid.SampledFrom(types).Draw(t, "type")
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
