package machine

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// matrices is a graph of square matrices.
type matrices struct {
	t *testing.T
	*G.ExprGraph
	names map[*G.Node]string
}

func newMatrices(t *testing.T) matrices {
	return matrices{t, G.NewGraph(), map[*G.Node]string{}}
}

func (m matrices) in(name string) *G.Node {
	values := tensor.New(tensor.WithShape(4, 4), tensor.WithBacking(tensor.Range(tensor.Float64, 1, 17)))
	n := G.NewMatrix(m.ExprGraph, tensor.Float64, G.WithName(name), G.WithShape(4, 4), G.WithValue(values))
	return m.named(name)(n, nil)
}

func (m matrices) named(name string) func(n *G.Node, err error) *G.Node {
	return func(n *G.Node, err error) *G.Node {
		require.NoError(m.t, err)
		m.names[n] = name
		return n
	}
}

func (m matrices) namesOf(nodes G.Nodes) string {
	var all []string
	for _, n := range nodes {
		all = append(all, m.names[n])
	}
	return strings.Join(all, " ")
}

func (m matrices) namesOfSteps(steps []step) string {
	var nodes G.Nodes
	for _, s := range steps {
		nodes = append(nodes, s.node)
	}
	return m.namesOf(nodes)
}

// Wanted nodes are ordered by the longest chain of ops that they need, then in the caller's order.
func TestWantedInOrder(t *testing.T) {
	m := newMatrices(t)
	x, w := m.in("x"), m.in("w")
	a := m.named("a")(graph.MatMul(x, w))
	b := m.named("b")(graph.MatMul(a, w))
	c := m.named("c")(graph.MatMul(b, x)) // through x alone its chain is as short as a's
	twin := m.named("twin")(graph.MatMul(w, x))
	for _, row := range []struct {
		wanted G.Nodes
		order  string
		steps  string
		reason string
	}{
		{wanted: G.Nodes{x}, order: "x", steps: "x", reason: "an input alone"},
		{wanted: G.Nodes{a}, order: "a", steps: "x w a", reason: "one op"},
		{wanted: G.Nodes{c, b, a}, order: "a b c", steps: "x w a b c", reason: "given backwards"},
		{wanted: G.Nodes{c, twin}, order: "twin c", steps: "w x twin a b c", reason: "the longest chain counts"},
		{wanted: G.Nodes{twin, a}, order: "twin a", steps: "w x twin a", reason: "equal chains stay as given"},
		{wanted: G.Nodes{a, twin}, order: "a twin", steps: "x w a twin", reason: "equal chains, the other way round"},
		{wanted: G.Nodes{b, a, b}, order: "a b b", steps: "x w a b", reason: "wanted twice, computed once"},
		{wanted: G.Nodes{b, x}, order: "x b", steps: "x w a b", reason: "an input needs no op"},
	} {
		given := slices.Clone(row.wanted)
		require.Equal(t, row.order, m.namesOf(wantedGraphOf(row.wanted).inOrder(row.wanted)), row.reason)
		require.Equal(t, given, row.wanted, "%s: the caller's list", row.reason)
		require.Equal(t, row.steps, m.namesOfSteps(stepsOf(row.wanted)), row.reason)
	}
	require.Empty(t, wantedGraphOf(G.Nodes{x}).inOrder(nil), "nothing")
}

// A node that is wanted twice has one value.
func TestWantedTwice(t *testing.T) {
	m := newMatrices(t)
	y := m.named("y")(graph.MatMul(m.in("x"), m.in("w")))
	vm, err := New(y, y)
	require.NoError(t, err)
	require.NoError(t, vm.RunAll())
	require.Equal(t, Memory{Planned: 16 * 8, Sum: 16 * 8}, vm.Memory())
	require.Equal(t, 90.0, y.Value().Data().([]float64)[0])
}

// For any graph the order is that of naively counted chains, and each step occurs once, after the steps that it reads.
func TestOrderOfRandomGraphs(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 2))
		m := newMatrices(t)
		all := G.Nodes{m.in("x"), m.in("w")}
		draw := func() *G.Node { return all[random.IntN(len(all))] }
		for range 12 {
			all = append(all, m.named("")(graph.MatMul(draw(), draw())))
		}
		var wanted G.Nodes
		for range 1 + random.IntN(6) {
			wanted = append(wanted, draw())
		}
		naive := slices.SortedStableFunc(slices.Values(wanted), func(a, b *G.Node) int {
			return cmp.Compare(longest(m, a), longest(m, b))
		})
		require.Equal(t, G.Nodes(naive), wantedGraphOf(wanted).inOrder(wanted), "seed %d", seed)
		seen := map[*G.Node]bool{}
		for i, s := range stepsOf(wanted) {
			require.False(t, seen[s.node], "seed %d: step %d computes again", seed, i)
			seen[s.node] = true
			for _, j := range s.inputs {
				require.Less(t, j, i, "seed %d", seed)
			}
		}
		for _, n := range wanted {
			require.True(t, seen[n], "seed %d", seed)
		}
	}
}

// longest returns how many ops the longest chain to a node has.
func longest(m matrices, n *G.Node) int {
	long := 0
	for _, child := range children(m.ExprGraph, n) {
		long = max(long, longest(m, child)+1)
	}
	return long
}

// The order keeps fewer values: a value that only one gradient needs is not kept for a gradient that is computed later.
func TestOrderSavesMemory(t *testing.T) {
	m := newMatrices(t)
	w := m.in("w")
	flows := m.in("flow")
	var grads G.Nodes
	for range 6 { // a gradient of each product, summed to a number, and the gradient that flows back
		flows = m.named("")(graph.MatMul(flows, w))
		grads = append(grads, G.Must(G.Sum(m.named("")(graph.Exp(flows)))))
	}
	slices.Reverse(grads)
	steps := stepsOf(grads)
	_, got := planMemory(new(Arena), steps, nil)
	require.Equal(t, 2*16*8, got.Planned, "the flow, and its Exp or the next one")
}

// With checkpoints, the steps between two of them run a second time, just before the first step behind the last
// checkpoint that reads them.
func TestOrderWithCheckpoints(t *testing.T) {
	m := newMatrices(t)
	x := m.in("x")
	first := m.named("mark1")(graph.Checkpoint(m.named("a")(graph.Tanh(x))))
	b := m.named("b")(graph.Exp(first))
	c := m.named("c")(graph.Exp(b))
	last := m.named("mark2")(graph.Checkpoint(c))
	d := m.named("d")(graph.Mul(last, c)) // reads c again, and therefore b
	e := m.named("e")(graph.Mul(d, b))
	for _, row := range []struct {
		wanted G.Nodes
		steps  string
		reason string
	}{
		{wanted: G.Nodes{last}, steps: "x a mark1 b c mark2", reason: "nothing reads behind the last mark"},
		{wanted: G.Nodes{e}, steps: "x a mark1 b c mark2 b c d e", reason: "b and c again, once each"},
		{wanted: G.Nodes{e, c}, steps: "x a mark1 b c mark2 d b e", reason: "c is wanted, so kept; b is read by e alone"},
		{wanted: G.Nodes{c}, steps: "x a mark1 b c", reason: "one mark, nothing between two"},
	} {
		require.Equal(t, row.steps, m.namesOfSteps(rematerialize(stepsOf(row.wanted), row.wanted)), row.reason)
	}
}
