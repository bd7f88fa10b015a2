package graph_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"attention/graph/machine"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A machine may pass an op memory with arbitrary contents, or the memory of an input that no later op needs: every op,
// forward and backward, overwrites all of it, and changes no other input.
func TestOpsOverwriteTheirMemory(t *testing.T) {
	if testenv.Race {
		t.Skip("one goroutine computes each op, as in other tests")
	}
	found := 0
	for _, c := range allCases() {
		for _, p := range tolerances {
			r := rand.New(rand.NewPCG(5, 6))
			in := c.in(r)
			e := express(t, c.op, in, p.dt)
			e.differentiate(t, in, normal(r, e.out.Shape()...), p.dt)
			found += overwriteAll(t, e.g)
		}
	}
	require.Greater(t, found, 300) // forward and backward ops, in both types
}

// overwriteAll computes every op of the graph in all ways, and returns how many of the ops can overwrite memory.
func overwriteAll(t *testing.T, g *G.ExprGraph) (found int) {
	t.Helper()
	values := map[*G.Node]G.Value{}
	for _, n := range g.AllNodes() { // an op comes after its inputs
		if n.Op() == nil {
			values[n] = n.Value()
			continue
		}
		var in []G.Value
		for it := g.From(n.ID()); it.Next(); {
			in = append(in, values[it.Node().(*G.Node)])
		}
		var err error
		values[n], err = n.Op().Do(in...)
		require.NoError(t, err)
		op, ok := n.Op().(machine.Overwriter)
		if !ok || n.Shape().IsScalar() || n.Dtype() == tensor.Int { // machines plan no memory for these
			continue
		}
		found++
		require.True(t, op.OverwritesPrealloc())
		full := zeros(n.Shape()...)
		for i := range full.v {
			full.v[i] = math.NaN()
		}
		overwrite(t, n, full.dense(n.Dtype()), in, values[n])
		for _, k := range op.InPlace() {
			own := slices.Clone(in)
			own[k] = clone(t, in[k])
			overwrite(t, n, own[k].(*tensor.Dense), own, values[n])
			overwriteOne(t, n, k, in)
		}
	}
	return found
}

// overwriteOne uses one tensor for all inputs of its type and shape, and computes into that tensor.
func overwriteOne(t *testing.T, n *G.Node, k int, in []G.Value) {
	t.Helper()
	one, apart := clone(t, in[k]).(*tensor.Dense), slices.Clone(in)
	same := slices.Clone(in)
	for i, v := range in {
		if v.Dtype() == one.Dtype() && slices.Equal(v.Shape(), one.Shape()) {
			same[i], apart[i] = one, clone(t, one)
		}
	}
	want, err := n.Op().Do(apart...)
	require.NoError(t, err)
	overwrite(t, n, one, same, want)
}

// overwrite computes n into the memory given.
func overwrite(t *testing.T, n *G.Node, into *tensor.Dense, in []G.Value, want G.Value) {
	t.Helper()
	var before []G.Value
	for _, v := range in {
		before = append(before, clone(t, v))
	}
	got, err := n.Op().(machine.Overwriter).UsePreallocDo(into, in...)
	require.NoError(t, err)
	require.Same(t, into, got, "%v", n)
	require.Equal(t, bits(arrayOf(t, want)), bits(arrayOf(t, got)), "%v", n)
	for i, v := range in {
		switch {
		case v == G.Value(into):
		case v.Dtype() == tensor.Float32 || v.Dtype() == tensor.Float64:
			require.Equal(t, bits(arrayOf(t, before[i])), bits(arrayOf(t, v)), "%v changed input %d", n, i)
		default:
			require.Equal(t, before[i].Data(), v.Data(), "%v changed input %d", n, i)
		}
	}
}

func clone(t *testing.T, v G.Value) G.Value {
	t.Helper()
	c, err := G.CloneValue(v)
	require.NoError(t, err)
	return c
}
