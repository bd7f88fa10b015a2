package graph_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"attention/graph"
	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// dropped returns Dropout of x with a key and a site.
func dropped(t *testing.T, x array, p float64, k float64, site int) array {
	t.Helper()
	return express(t, dropout(p, site), append(inputs(x), key(k)), tensor.Float64).onOurs(t).out
}

func ones(n int) array {
	x := zeros(n)
	for i := range x.v {
		x.v[i] = 1
	}
	return x
}

func TestDropoutScalesOrZeroes(t *testing.T) {
	x := normal(rand.New(rand.NewPCG(1, 2)), 7, 11)
	for _, p := range []float64{0.1, 0.3, 0.5, 0.9} {
		y := dropped(t, x, p, 42, 1)
		kept := 0
		for i, v := range y.v {
			if v != 0 {
				require.Equal(t, x.v[i]*(1/(1-p)), v) // exactly the scale of the formula
				kept++
			}
		}
		require.NotZero(t, kept)
		require.Less(t, kept, len(x.v))
	}
}

// The number of kept elements is binomial; a deviation of more than 5 standard deviations from n·(1−p) occurs once in
// 1.7 million draws. The keys are fixed, so the test gives the same counts each time.
func TestDropoutKeepsOneMinusP(t *testing.T) {
	const n = 200_000
	x := ones(n)
	for _, p := range []float64{0.001, 0.1, 0.5, 0.9, 0.999} {
		for _, k := range []float64{0, 1, -1} {
			kept := 0
			for _, v := range dropped(t, x, p, k, 3).v {
				if v != 0 {
					kept++
				}
			}
			require.InDelta(t, n*(1-p), float64(kept), 5*math.Sqrt(n*p*(1-p)), "p=%v key=%v", p, k)
		}
	}
}

// The masks of two keys or of two sites agree as often as by chance, in p² + (1−p)² of the elements; so do neighbouring
// elements within one mask.
func TestDropoutMasksAreIndependent(t *testing.T) {
	const n, p = 200_000, 0.5
	x := ones(n + 1)
	mask := dropped(t, x, p, 7, 1)
	chance := func(what string, a, b []float64) {
		agree := 0
		for i := range n {
			if a[i] == b[i] {
				agree++
			}
		}
		require.InDelta(t, n/2, float64(agree), 5*math.Sqrt(n*0.25), what)
	}
	for name, other := range map[string]array{
		"the next key":    dropped(t, x, p, 8, 1),
		"the next site":   dropped(t, x, p, 7, 2),
		"key + 1, site−1": dropped(t, x, p, 8, 0),
		"key and site":    dropped(t, x, p, 1, 7),
		"a negative key":  dropped(t, x, p, -7, 1),
		"a far key":       dropped(t, x, p, 1<<40, 1),
	} {
		chance(name, mask.v, other.v)
	}
	chance("neighbours", mask.v, mask.v[1:])
	require.Equal(t, mask, dropped(t, x, p, 7, 1), "the same key and site")
}

// The key is set for each run: another key gives another mask, the first key gives the first mask again, and the
// gradient drops the same elements as the value.
func TestDropoutKeyIsAnInput(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		in := append(inputs(ones(64)), key(1))
		e := express(t, dropout(0.5, 1), in, dt)
		e.differentiate(t, in, ones(64), dt)
		m, err := machine.New(e.out, e.grads[0])
		require.NoError(t, err)
		run := func(k int64) []float64 {
			require.NoError(t, G.Let(e.in[1], G.NewI64(k)))
			require.NoError(t, m.RunAll())
			require.Equal(t, e.out.Value().Data(), e.grads[0].Value().Data(), "gradient of ones")
			return arrayOf(t, e.out.Value()).v
		}
		first := run(1)
		require.NotEqual(t, first, run(2))
		require.Equal(t, first, run(1))
	}
}

func TestDropoutOfZeroIsItsArgument(t *testing.T) {
	g := G.NewGraph()
	x := node(g, "x", ones(3), tensor.Float64)
	y, err := graph.Dropout(x, graph.DropoutConfig{})
	require.NoError(t, err)
	require.Same(t, x, y)
	require.Len(t, g.AllNodes(), 1)
}

// Gorgonia merges equal ops on equal inputs into one node: dropouts at two sites must stay two nodes, those at one site
// must become one.
func TestDropoutSitesAreNodesOfTheirOwn(t *testing.T) {
	g := G.NewGraph()
	x, k := node(g, "x", ones(64), tensor.Float64), node(g, "key", key(5).array, tensor.Int64)
	at := func(p float64, site int) *G.Node {
		y, err := graph.Dropout(x, graph.DropoutConfig{P: p, Key: k, Site: site})
		require.NoError(t, err)
		return y
	}
	nodes := G.Nodes{at(0.5, 1), at(0.5, 2), at(0.5, 12), at(0.25, 1), at(0.5, -1)}
	for i, n := range nodes {
		for j := range i {
			require.NotSame(t, nodes[j], n, "%d and %d", i, j)
		}
	}
	require.Same(t, nodes[0], at(0.5, 1))
	m, err := machine.New(nodes...)
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	for i, n := range nodes {
		for j := range i {
			require.NotEqual(t, nodes[j].Value().Data(), n.Value().Data(), "%d and %d", i, j)
		}
	}
}

// A key may be int or int64, a scalar or a tensor of one element.
func TestDropoutKeysOfAllKinds(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Int, tensor.Int64} {
		for _, shape := range [][]int{nil, {1}} {
			g := G.NewGraph()
			x, k := node(g, "x", ones(64), tensor.Float64), node(g, "key", array{shape, []float64{7}}, dt)
			y, err := graph.Dropout(x, graph.DropoutConfig{P: 0.5, Key: k, Site: 1})
			require.NoError(t, err)
			m, err := machine.New(y)
			require.NoError(t, err)
			require.NoError(t, m.RunAll())
			require.Equal(t, dropped(t, ones(64), 0.5, 7, 1).v, y.Value().Data())
		}
	}
}

func dropoutCases() []opCase {
	half := input{array: of([]float64{1, 0, 0, 1, 1, 0}, 2, 3), fixed: true}
	return []opCase{
		{name: "dropout", op: dropout(0.3, 5), in: then(shapes(s{2, 3, 5}), key(-12345))},
		{name: "dropout_mask", op: func(in G.Nodes) (*G.Node, error) {
			kept, err := graph.Mul(in[0], in[1])
			if err != nil {
				return nil, err
			}
			return graph.Scale(kept, 1/0.7)
		},
			want: each(func(x, keep float64) float64 { return x * keep / 0.7 }), in: then(shapes(s{2, 3}), half)},
	}
}

func dropout(p float64, site int) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) {
		return graph.Dropout(in[0], graph.DropoutConfig{P: p, Key: in[1], Site: site})
	}
}
