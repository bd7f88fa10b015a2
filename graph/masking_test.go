package graph_test

import (
	"strings"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Masks that do not fit scores (2, 3, 5, 7); every function that accepts masks returns the error.
func TestWrongMasksAreRefused(t *testing.T) {
	b, other := bench{G.NewGraph()}, bench{G.NewGraph()}
	for _, c := range []struct {
		mask mask.Mask
		want string
	}{
		{mask: mask.Causal{}, want: "mask: got T=5 and S=7, want T = S or an alignment, upper_left or lower_right"},
		{mask: mask.SlidingWindow{}, want: "mask: got T=5 and S=7, want T = S or an alignment, upper_left or lower_right"},
		{mask: mask.Causal{Align: 3}, want: "mask: got Alignment(3), want one of square, upper_left, lower_right"},
		{mask: mask.SlidingWindow{Left: -1, Align: mask.UpperLeft},
			want: "mask: got a window of -1 to the left and 0 to the right, want both at least 0"},
		{mask: mask.SlidingWindow{Left: 2, Right: -3, Align: mask.UpperLeft},
			want: "mask: got a window of 2 to the left and -3 to the right, want both at least 0"},
		{mask: mask.Prefix{N: -1}, want: "mask: got a prefix of -1 keys, want at least 0"},
		{mask: mask.And(mask.All{}, nil), want: "mask: got nil in And, Or or Not, want a mask"},
		{mask: mask.Or(nil, mask.All{}), want: "mask: got nil in And, Or or Not, want a mask"},
		{mask: mask.Not(nil), want: "mask: got nil in And, Or or Not, want a mask"},
		{mask: mask.And(mask.All{}, mask.All{}, nil), want: "mask: got nil in And, Or or Not, want a mask"},
		{mask: mask.KeyLengths{}, want: "lengths: got nil, want a node"},
		{mask: mask.KeyLengths{Lengths: b.f(2)}, want: "lengths: got float64, want int or int64"},
		{mask: mask.KeyLengths{Lengths: b.ids(3)}, want: "lengths: shape (3), want (B) = (2)"},
		{mask: mask.KeyLengths{Lengths: b.ids(2, 1)}, want: "lengths: shape (2, 1), want (B) = (2)"},
		{mask: mask.KeyLengths{Lengths: b.ids()}, want: "lengths: shape (), want (B) = (2)"},
		{mask: mask.CausalAt{}, want: "causal_start: got nil, want a node"},
		{mask: mask.CausalAt{Start: b.f(2)}, want: "causal_start: got float64, want int or int64"},
		{mask: mask.CausalAt{Start: b.ids(3)}, want: "causal_start: shape (3), want (B) = (2)"},
		{mask: mask.CausalAt{Start: b.ids(2, 1)}, want: "causal_start: shape (2, 1), want (B) = (2)"},
		{mask: mask.CausalAt{Start: other.ids(2)}, want: "causal_start: got a node of another graph, want one of"},
		{mask: mask.Blocks{Chosen: b.ids(2, 5, 3)}, want: "mask: got blocks of 0 keys, want at least 1"},
		{mask: mask.Blocks{Size: 2}, want: "blocks: got nil, want a node"},
		{mask: mask.Blocks{Size: 2, Chosen: b.ids(2, 7, 3)}, want: "blocks: shape (2, 7, 3), want (…, H, T, N) = (2, 3, 5, 3)"},
		{mask: mask.Func{Name: "mine"}, want: `mask: got Func "mine" without a function, want Visible or VisibleAt`},
		{mask: mask.Func{Name: "mine", Visible: func(b, h, t, s int) bool { return true },
			VisibleAt: func(t, s int) bool { return true }},
			want: `mask: got Func "mine" with Visible and VisibleAt, want one of the two`},
		{mask: mask.Segments{Key: b.ids(2, 7)}, want: "segments: got nil, want a node"},
		{mask: mask.Segments{Query: b.ids(2, 7), Key: b.ids(2, 7)}, want: "segments: shape (2, 7), want (B, T) = (2, 5)"},
		{mask: mask.Segments{Query: b.ids(2, 5)}, want: "key_segments: shape (2, 5), want (B, S) = (2, 7)"},
		{mask: mask.Segments{Query: b.ids(2, 5), Key: b.ids(7)}, want: "key_segments: shape (7), want (B, S) = (2, 7)"},
		{mask: mask.Segments{Query: b.ids(2, 5), Key: b.f(2, 7)}, want: "key_segments: got float64, want int or int64"},
		{mask: mask.Keep{}, want: "keep: got nil, want a node"},
		{mask: mask.Keep{Keep: b.of(tensor.String, 5, 7)}, want: "keep: got string, want bools, integers or floats"},
		{mask: mask.Keep{Keep: b.f(7, 5)}, want: "keep: shape (7, 5), want one that broadcasts to (2, 3, 5, 7)"},
		{mask: mask.Keep{Keep: b.f(2, 5, 7)}, want: "keep: shape (2, 5, 7), want one that broadcasts to (2, 3, 5, 7)"},
		{mask: mask.Keep{Keep: b.f(1, 2, 3, 5, 7)},
			want: "keep: shape (1, 2, 3, 5, 7), want one that broadcasts to (2, 3, 5, 7)"},
		{mask: mask.Keep{Keep: other.f(5, 7)}, want: "keep: got a node of another graph, want one of"},
		{mask: mask.KeyLengths{Lengths: other.ids(2)}, want: "lengths: got a node of another graph, want one of"},
		{mask: mask.Keep{Keep: G.NewConstant(1.0)},
			want: "keep: got a node of no graph, want one of a graph; b.Graph().Constant(v) is one"},
	} {
		for _, wrapped := range []mask.Mask{c.mask, mask.Or(mask.All{}, mask.Not(c.mask))} {
			for name, use := range maskUsers(b) {
				n, err := use(wrapped)
				require.ErrorContains(t, err, c.want, name)
				require.Regexp(t, wellSaid, err.Error())
				require.Nil(t, n)
				if !strings.Contains(c.want, "another graph") { // only the op sees this error
					require.EqualError(t, err, "graph: "+name+": "+c.want)
				}
			}
		}
	}
	_, err := graph.MaskFill(b.f(5, 3), mask.Causal{Align: mask.LowerRight})
	require.EqualError(t, err, "graph: MaskFill: mask: got T=5 and S=3 with lower_right, want S ≥ T")
	_, err = graph.MaskFill(b.f(5), mask.All{})
	require.EqualError(t, err, "graph: MaskFill: scores: shape (5), want (…, T, S)")
	_, err = graph.MaskFill(b.f(2, 3, 2, 5, 7), mask.Keep{Keep: b.f(2, 1, 1, 1, 1)})
	require.EqualError(t, err, "graph: MaskFill: keep: shape (2, 1, 1, 1, 1), "+
		"want one that broadcasts to (2, 3, 2, 5, 7) and repeats all of its axes before the heads' or none")
}

// maskUsers returns the functions that accept masks, for scores (2, 3, 5, 7).
func maskUsers(b bench) map[string]func(m mask.Mask) (*G.Node, error) {
	q, k, v := b.f(2, 3, 5, 2), b.f(2, 3, 7, 2), b.f(2, 3, 7, 11)
	return map[string]func(m mask.Mask) (*G.Node, error){
		"MaskFill": func(m mask.Mask) (*G.Node, error) { return graph.MaskFill(b.f(2, 3, 5, 7), m) },
		"Attention": func(m mask.Mask) (*G.Node, error) {
			return context(graph.Attention(q, k, v, graph.AttentionConfig{Mask: m}))
		},
		"FusedAttention": func(m mask.Mask) (*G.Node, error) {
			return fusedAttention(q, k, v, graph.AttentionConfig{Mask: m})
		},
	}
}

// Errors that only a run can find: lengths beyond the keys, and elements of a Keep that are not 0 or 1. The next run,
// with valid values, works.
func TestWrongMaskValuesAreErrorsOfTheRun(t *testing.T) {
	lengths := func(n *G.Node) mask.Mask { return mask.KeyLengths{Lengths: n} }
	keep := func(n *G.Node) mask.Mask {
		return mask.Not(mask.And(mask.Causal{Align: mask.UpperLeft}, mask.Keep{Keep: n}))
	}
	for _, c := range []struct {
		mask      func(n *G.Node) mask.Mask
		dt        tensor.Dtype
		bad, good array
		want      string
	}{
		{mask: lengths, dt: tensor.Int, bad: of([]float64{3, 4}), good: of([]float64{3, 0}),
			want: "lengths: got 4 for batch 1, want 0 to S=3"},
		{mask: lengths, dt: tensor.Int64, bad: of([]float64{-1, 3}), good: of([]float64{1, 1}),
			want: "lengths: got -1 for batch 0, want 0 to S=3"},
		{mask: lengths, dt: tensor.Int64, bad: of([]float64{1 << 40, 3}), good: of([]float64{1, 1}),
			want: "lengths: got 1099511627776 for batch 0, want 0 to S=3"},
		{mask: keep, dt: tensor.Float32, bad: of([]float64{0, 1, 2}), good: of([]float64{0, 1, 1}),
			want: "keep: got 2 at element 2, want 0 or 1"},
		{mask: keep, dt: tensor.Float64, bad: of([]float64{1, nan, 0}), good: of([]float64{0, 1, 1}),
			want: "keep: got NaN at element 1, want 0 or 1"},
		{mask: keep, dt: tensor.Float64, bad: of([]float64{0.5, 1, 1}), good: of([]float64{0, 1, 1}),
			want: "keep: got 0.5 at element 0, want 0 or 1"},
		{mask: keep, dt: tensor.Float64, bad: of([]float64{-inf, 1, 1}), good: of([]float64{0, 1, 1}),
			want: "keep: got -Inf at element 0, want 0 or 1"},
		{mask: keep, dt: tensor.Int, bad: of([]float64{1, -1, 1}), good: of([]float64{0, 1, 1}),
			want: "keep: got -1 at element 1, want 0 or 1"},
		{mask: keep, dt: tensor.Uint8, bad: of([]float64{0, 1, 255}), good: of([]float64{0, 1, 1}),
			want: "keep: got 255 at element 2, want 0 or 1"},
		{mask: keep, dt: tensor.Int64, bad: array{nil, []float64{7}}, good: array{nil, []float64{1}},
			want: "keep: got 7 at element 0, want 0 or 1"},
	} {
		for name, attend := range map[string]func(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error){
			"Attention": func(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error) {
				return context(graph.Attention(q, k, v, c))
			},
			"FusedAttention": fusedAttention,
		} {
			g := G.NewGraph()
			x := node(g, "x", zeros(2, 3, 5), tensor.Float64)
			m := node(g, "m", c.bad, c.dt)
			out, err := attend(x, x, x, graph.AttentionConfig{Mask: c.mask(m)})
			require.NoError(t, err)
			vm, err := machine.New(out)
			require.NoError(t, err)
			require.EqualError(t, vm.RunAll(), "machine: graph: "+name+": "+c.want)
			require.ErrorContains(t, G.NewTapeMachine(g).RunAll(), "graph: "+name+": "+c.want)
			require.NoError(t, G.Let(m, c.good.value(c.dt)))
			require.NoError(t, vm.RunAll())
		}
	}
}
