package graph_test

import (
	"math"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func maskedMeanCases() []opCase {
	kept := of([]float64{1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 3, 1, 1, 5)
	return []opCase{
		{name: "masked_mean", in: then(shapes(s{3, 5, 7}), input{array: kept, integer: true}),
			op: func(in G.Nodes) (*G.Node, error) { return graph.MaskedMean(in[0], mask.Keep{Keep: in[1]}) },
			want: func(in []array) array {
				return naiveMaskedMean(in[0], func(b, t int) bool { return in[1].at(b, 0, 0, t) == 1 })
			}},
		{name: "masked_mean_lengths", in: then(shapes(s{3, 5, 7}), ids([]float64{4, 0, 5})),
			op: func(in G.Nodes) (*G.Node, error) { return graph.MaskedMean(in[0], mask.KeyLengths{Lengths: in[1]}) },
			want: func(in []array) array {
				return naiveMaskedMean(in[0], func(b, t int) bool { return t < int(in[1].v[b]) })
			}},
		{name: "masked_mean_all", in: shapes(s{5, 7}),
			op:   unary(func(x *G.Node) (*G.Node, error) { return graph.MaskedMean(x, nil) }),
			want: func(in []array) array { return naiveMaskedMean(in[0], func(int, int) bool { return true }) }},
	}
}

func naiveMaskedMean(x array, shown func(b, t int) bool) array {
	y, x := zeros(x.lead(2, x.axis(-1))...), x.matrices()
	for b := range x.shape[0] {
		n := 0
		for t := range x.shape[1] {
			if shown(b, t) {
				n++
			}
		}
		for t := range x.shape[1] {
			for e := range x.shape[2] {
				if shown(b, t) {
					y.v[b*x.shape[2]+e] += x.at(b, t, e) / float64(n)
				}
			}
		}
	}
	return y
}

// Hidden tokens influence neither the mean nor a gradient. A non-finite gradient reaches the tokens of its own mean and
// no others.
func TestMaskedMeanHidesWhatIsNotFinite(t *testing.T) {
	x := of([]float64{1, nan, 2, inf, 3, nan, nan, -inf, inf, 5, 7, 9}, 3, 4, 1)
	for _, c := range []struct {
		about string
		mask  func(in *G.Node) mask.Mask
		in    input
	}{
		{about: "kept", in: input{array: of([]float64{1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1}, 3, 1, 1, 4), fixed: true},
			mask: func(in *G.Node) mask.Mask { return mask.Keep{Keep: in} }},
		{about: "not kept", in: input{array: of([]float64{0, 1, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0}, 3, 1, 1, 4), integer: true},
			mask: func(in *G.Node) mask.Mask { return mask.Not(mask.Keep{Keep: in}) }},
	} {
		for _, p := range tolerances {
			in := []input{{array: x}, c.in}
			op := func(in G.Nodes) (*G.Node, error) { return graph.MaskedMean(in[0], c.mask(in[1])) }
			e := express(t, op, in, p.dt)
			e.differentiate(t, in, of([]float64{nan, inf, 3}, 3, 1), p.dt)
			got := e.onOurs(t)
			near(t, c.about, of([]float64{1.5, 0, 7}, 3, 1), got.out, p.tol)
			near(t, c.about, of([]float64{nan, 0, nan, 0, 0, 0, 0, 0, 0, 1, 1, 1}, 3, 4, 1), got.grads[0], p.tol)
		}
	}
}

// A plain sum of 2²⁰ numbers in float32 is wrong in the third digit.
func TestMaskedMeanOfManyTokens(t *testing.T) {
	const n = 1 << 20
	x := zeros(n, 1)
	for i := range x.v {
		x.v[i] = 0.1
	}
	y, dx := through(t, func(x *G.Node) (*G.Node, error) { return graph.MaskedMean(x, nil) }, x, of([]float64{n}),
		tensor.Float32)
	require.Equal(t, float64(float32(0.1)), y.v[0])
	require.Equal(t, 1.0, dx.v[n-1])
}

func TestWrongMaskedMeansAreRefused(t *testing.T) {
	g := G.NewGraph()
	x := node(g, "x", zeros(3, 5, 7), tensor.Float32)
	for _, c := range []struct {
		x    *G.Node
		mask mask.Mask
		want string
	}{
		{want: "x: got nil, want a node"},
		{x: node(g, "v", zeros(7), tensor.Float32), want: "x: shape (7), want (…, T, E)"},
		{x: node(g, "ids", zeros(5, 7), tensor.Int), want: "x: got int, want float32 or float64"},
		{x: x, mask: mask.Keep{}, want: "keep: got nil, want a node"},
		{x: x, mask: mask.Keep{Keep: node(g, "k", zeros(3, 5), tensor.Int)},
			want: "keep: shape (3, 5), want one that broadcasts to (3, 1, 1, 5)"},
		{x: x, mask: mask.KeyLengths{Lengths: node(g, "l", zeros(2), tensor.Int)},
			want: "lengths: shape (2), want (B) = (3)"},
		{x: x, mask: mask.KeyLengths{Lengths: node(G.NewGraph(), "l", zeros(3), tensor.Int)},
			want: "lengths: got a node of another graph, want one of x's"},
		{x: x, mask: mask.SlidingWindow{Left: math.MaxInt},
			want: "mask: got T=1 and S=5, want T = S or an alignment, upper_left or lower_right"},
		{x: x, mask: mask.And(nil, nil), want: "mask: got nil in And, Or or Not, want a mask"},
	} {
		_, err := graph.MaskedMean(c.x, c.mask)
		require.EqualError(t, err, "graph: MaskedMean: "+c.want)
	}
}

// Errors that only a run can find.
func TestMaskedMeanOfAWrongLength(t *testing.T) {
	in := []input{{array: zeros(1, 5, 7)}, ids([]float64{6})}
	e := express(t, func(in G.Nodes) (*G.Node, error) {
		return graph.MaskedMean(in[0], mask.KeyLengths{Lengths: in[1]})
	}, in, tensor.Float64)
	m, err := machine.New(e.out)
	require.NoError(t, err)
	require.EqualError(t, m.RunAll(), "machine: graph: MaskedMean: lengths: got 6 for batch 0, want 0 to S=5")
}
