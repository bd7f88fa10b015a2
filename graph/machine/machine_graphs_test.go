package machine_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"attention/graph/machine"
	"attention/internal/dense"
	"attention/internal/golden"
	"attention/internal/stock"
	_ "attention/internal/testenv"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// bits returns the bits of a value's elements.
func bits(t require.TestingT, v G.Value) []uint64 {
	var b []uint64
	for _, x := range numbers(v) {
		b = append(b, math.Float64bits(x))
	}
	return b
}

// numbers returns a copy of a value's elements, true as 1.
func numbers(v G.Value) []float64 { return slices.Clone(dense.Float64s(v)) }

// For any graph of float64, our machine returns the results of Gorgonia's machine, in every run and for any inputs, up
// to the last digits of functions like exp and their effect on later ops. The test leaves out graphs that are wrong on
// Gorgonia's machine: softmax, sums of four axes, Reshape, whose result shares the memory of its input, which a later
// op overwrites, and graphs in which two nodes have the same hash of 32 bits, which Gorgonia treats as one node.
func TestRandomGraphsRunAsOnGorgonia(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, wanted := draw(t, tapeOps, matrices, tensor.Float64)
		if shareHash(r.g) {
			t.Skip("two nodes have the same hash")
		}
		ours, err := machine.New(wanted...)
		require.NoError(t, err)
		read := make([]G.Value, len(wanted))
		for i, n := range wanted {
			G.Read(n, &read[i])
		}
		tape := G.NewTapeMachine(r.g)
		defer tape.Close()
		for round := range 3 {
			r.feed(t, round, false)
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
				requireClose(t, read[i], got[i], 1e-9, fmt.Sprintf("round %d, wanted %d: %v", round, i, n))
			}
		}
	})
}

func shareHash(g *G.ExprGraph) bool {
	seen := map[uint32]bool{}
	for _, n := range g.AllNodes() {
		if seen[n.Hashcode()] {
			return true
		}
		seen[n.Hashcode()] = true
	}
	return false
}

// For any graph of Gorgonia's ops, our machine returns the values and gradients of naive loops in float64, with inputs
// of any strides.
func TestRandomGraphsRunAsNaively(t *testing.T) {
	seen := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) { runsAsNaively(t, seen) })
	if testing.Short() {
		return // rapid draws too few graphs to cover every op
	}
	for name := range stockOps {
		require.True(t, seen[name], "%s is never drawn", name)
	}
	for _, name := range stock.Names() {
		require.True(t, seen[name], "%s is never drawn", name)
	}
}

func FuzzRandomGraphs(f *testing.F) {
	for seed := range byte(8) { // enough bytes to draw whole graphs from
		draws := make([]byte, 1<<14)
		_, _ = rand.NewChaCha8([32]byte{seed}).Read(draws)
		f.Add(draws)
	}
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { runsAsNaively(t, map[string]bool{}) }))
}

// runsAsNaively draws a graph, runs it both ways and records its ops.
func runsAsNaively(t *rapid.T, seen map[string]bool) {
	r, wanted := draw(t, stockOps, anySize, tensor.Float32, tensor.Float64)
	ours, err := machine.New(wanted...)
	require.NoError(t, err)
	tolerance := map[tensor.Dtype]float64{tensor.Float32: 1e-3, tensor.Float64: 1e-9}[r.dt]
	for round := range 2 {
		r.feed(t, round, true)
		want := naively(t, r.g)
		if want.tie != "" {
			t.Skip(want.tie)
		}
		require.NoError(t, ours.RunAll())
		for i, n := range wanted {
			requireClose(t, want.values[n], n.Value(), tolerance, fmt.Sprintf("round %d, wanted %d: %v", round, i, n))
		}
	}
	for _, n := range r.g.AllNodes() {
		if n.Op() != nil {
			seen[stock.Name(n.Op())] = true
		}
	}
	for _, name := range r.drawn {
		seen[name] = true
	}
}

// For any op, our machine returns the bits of a machine that shares no memory: there each op computes from copies of
// its inputs into new memory.
func TestRandomGraphsRunAsOpByOp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, wanted := draw(t, merge(stockOps, ownOps), anySize, tensor.Float32, tensor.Float64)
		ours, err := machine.New(wanted...)
		require.NoError(t, err)
		for round := range 3 {
			r.feed(t, round, false)
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

// requireClose requires that the elements of two values differ by at most a fraction of the largest element.
func requireClose(t require.TestingT, want, got G.Value, tolerance float64, what string) {
	w, g := numbers(want), numbers(got)
	require.Len(t, g, len(w), what)
	largest := 1.0
	for _, v := range w {
		largest = max(largest, math.Abs(v))
	}
	require.InDeltaSlice(t, w, g, tolerance*largest, what)
}

// inputsOf returns the nodes to which an op of the graph is applied.
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

// compute returns the value of a node, computed in new memory from copies of other nodes' values.
func compute(t require.TestingT, n *G.Node, values map[*G.Node]G.Value) G.Value {
	op, from := stock.Of(n, asBuilt{}), inputsOf(n)
	if op != nil {
		from = op.Inputs()
	}
	var in []G.Value
	for _, x := range from {
		v, err := G.CloneValue(values[x])
		require.NoError(t, err)
		in = append(in, v)
	}
	switch {
	case op == nil:
		v, err := n.Op().Do(in...)
		require.NoError(t, err)
		return v
	case op.Value() != nil:
		return op.Value()
	case op.By() == stock.Nothing:
		i, at := op.View()
		return golden.Dense(n.Dtype(), numbers(in[i])[at:at+n.Shape().TotalSize()], n.Shape()...)
	}
	v, err := op.UsePreallocDo(memoryFor(n), in...)
	require.NoError(t, err)
	return v
}

// memoryFor returns new memory for a node's value.
func memoryFor(n *G.Node) G.Value {
	switch {
	case !n.Shape().IsScalar():
		return tensor.New(tensor.Of(n.Dtype()), tensor.WithShape(n.Shape()...))
	case n.Dtype() == tensor.Float32:
		return G.NewF32(float32(math.NaN()))
	}
	return G.NewF64(math.NaN())
}
