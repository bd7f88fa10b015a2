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

// Masks that do not go with scores (2, 3, 5, 7), each as an error of all that take masks.
func TestWrongMasksAreRefused(t *testing.T) {
	b, other := bench{G.NewGraph()}, bench{G.NewGraph()}
	for says, m := range map[string]mask.Mask{
		"mask: got T=5 and S=7, want T = S or an alignment, upper_left or lower_right":  mask.Causal{},
		"mask: got T=5 and S=7, want T = S or an alignment, upper_left or lower_right ": mask.SlidingWindow{},
		"mask: got alignment 3, want one of [square upper_left lower_right]":            mask.Causal{Align: 3},
		"mask: got a window of -1 to the left and 0 to the right, want both at least 0": mask.SlidingWindow{Left: -1,
			Align: mask.UpperLeft},
		"mask: got a window of 2 to the left and -3 to the right, want both at least 0": mask.SlidingWindow{Left: 2,
			Right: -3, Align: mask.UpperLeft},
		"mask: got a prefix of -1 keys, want at least 0": mask.Prefix{N: -1},
		"mask: got nil in And, Or or Not, want a mask":   mask.And(mask.All{}, nil),
		"mask: got nil in And, Or or Not, want a mask ":  mask.Or(nil, mask.All{}),
		"mask: got nil in And, Or or Not, want a mask  ": mask.Not(nil),
		"mask: got nil in And, Or or Not, want a mask   ": mask.And(mask.All{},
			mask.All{}, nil),
		"lengths: got nil, want a node":           mask.KeyLengths{},
		"lengths: got float64, want int or int64": mask.KeyLengths{Lengths: b.f(2)},
		"lengths: shape (3), want (B) = (2)":      mask.KeyLengths{Lengths: b.ids(3)},
		"lengths: shape (2, 1), want (B) = (2)":   mask.KeyLengths{Lengths: b.ids(2, 1)},
		"lengths: shape (), want (B) = (2)":       mask.KeyLengths{Lengths: b.ids()},
		"segments: got nil, want a node": mask.Segments{Key: b.ids(2,
			7)},
		"segments: shape (2, 7), want (B, T) = (2, 5)": mask.Segments{Query: b.ids(2,
			7), Key: b.ids(2, 7)},
		"key_segments: shape (2, 5), want (B, S) = (2, 7)": mask.Segments{Query: b.ids(2,
			5)},
		"key_segments: shape (7), want (B, S) = (2, 7)": mask.Segments{Query: b.ids(2,
			5), Key: b.ids(7)},
		"key_segments: got float64, want int or int64": mask.Segments{Query: b.ids(2,
			5), Key: b.f(2, 7)},
		"keep: got nil, want a node":                                      mask.Keep{},
		"keep: got bool, want float32, float64, int or int64":             mask.Keep{Keep: b.of(tensor.Bool, 5, 7)},
		"keep: shape (7, 5), want one that broadcasts to (2, 3, 5, 7)":    mask.Keep{Keep: b.f(7, 5)},
		"keep: shape (2, 5, 7), want one that broadcasts to (2, 3, 5, 7)": mask.Keep{Keep: b.f(2, 5, 7)},
		"keep: shape (1, 2, 3, 5, 7), want one that broadcasts to (2, 3, 5, 7)": mask.Keep{Keep: b.f(1, 2, 3,
			5, 7)},
		"keep: got a node of another graph, want one of ":    mask.Keep{Keep: other.f(5, 7)},
		"lengths: got a node of another graph, want one of ": mask.KeyLengths{Lengths: other.ids(2)},
		"keep: got a node of no graph, want one of a graph":  mask.Keep{Keep: G.NewConstant(1.0)},
	} {
		says = strings.TrimRight(says, " ")
		for _, wrapped := range []mask.Mask{m, mask.Or(mask.All{}, mask.Not(m))} {
			for name, use := range maskUsers(b) {
				n, err := use(wrapped)
				require.ErrorContains(t, err, says, name)
				require.Regexp(t, wellSaid, err.Error())
				require.Nil(t, n)
				if !strings.Contains(says, "another graph") { // which only the op sees
					require.EqualError(t, err, "graph: "+name+": "+says)
				}
			}
		}
	}
	_, err := graph.MaskFill(b.f(5, 3), mask.Causal{Align: mask.LowerRight})
	require.EqualError(t, err, "graph: MaskFill: mask: got T=5 and S=3 with lower_right, want S ≥ T")
	_, err = graph.MaskFill(b.f(5), mask.All{})
	require.EqualError(t, err, "graph: MaskFill: scores: shape (5), want (…, T, S)")
	_, err = graph.MaskFill(b.f(2, 3, 2, 5, 7), mask.Keep{Keep: b.f(2, 1, 1, 1, 1)})
	require.EqualError(t, err, "graph: MaskFill: keep: shape (2, 1, 1, 1, 1), want one that broadcasts to (2, 3, 2, 5, 7) and repeats all of its axes before the heads' or none")
}

// maskUsers are the functions that take masks, of scores (2, 3, 5, 7).
func maskUsers(b bench) map[string]func(m mask.Mask) (*G.Node, error) {
	q, k, v := b.f(2, 3, 5, 2), b.f(2, 3, 7, 2), b.f(2, 3, 7, 11)
	return map[string]func(m mask.Mask) (*G.Node, error){
		"MaskFill": func(m mask.Mask) (*G.Node, error) { return graph.MaskFill(b.f(2, 3, 5, 7), m) },
		"Attention": func(m mask.Mask) (*G.Node, error) {
			return context(graph.Attention(q, k, v, graph.AttentionConfig{Mask: m}))
		},
		"FusedAttention": func(m mask.Mask) (*G.Node, error) {
			return graph.FusedAttention(q, k, v, graph.AttentionConfig{Mask: m})
		},
	}
}

// What only a run can find: lengths beyond the keys, and numbers in a keep that are not
// 0 or 1. The next run, with good ones, works.
func TestWrongMaskValuesAreErrorsOfTheRun(t *testing.T) {
	lengths := func(n *G.Node) mask.Mask { return mask.KeyLengths{Lengths: n} }
	keep := func(n *G.Node) mask.Mask {
		return mask.Not(mask.And(mask.Causal{Align: mask.UpperLeft}, mask.Keep{Keep: n}))
	}
	for _, c := range []struct {
		mask      func(n *G.Node) mask.Mask
		dt        tensor.Dtype
		bad, good array
		says      string
	}{
		{mask: lengths, dt: tensor.Int, bad: of([]float64{3, 4}), good: of([]float64{3, 0}),
			says: "lengths: got 4 for batch 1, want 0 to S=3"},
		{mask: lengths, dt: tensor.Int64, bad: of([]float64{-1, 3}), good: of([]float64{1, 1}),
			says: "lengths: got -1 for batch 0, want 0 to S=3"},
		{mask: lengths, dt: tensor.Int64, bad: of([]float64{1 << 40, 3}), good: of([]float64{1, 1}),
			says: "lengths: got 1099511627776 for batch 0, want 0 to S=3"},
		{mask: keep, dt: tensor.Float32, bad: of([]float64{0, 1, 2}), good: of([]float64{0, 1, 1}),
			says: "keep: got 2 at element 2, want 0 or 1"},
		{mask: keep, dt: tensor.Float64, bad: of([]float64{1, nan, 0}), good: of([]float64{0, 1, 1}),
			says: "keep: got NaN at element 1, want 0 or 1"},
		{mask: keep, dt: tensor.Float64, bad: of([]float64{0.5, 1, 1}), good: of([]float64{0, 1, 1}),
			says: "keep: got 0.5 at element 0, want 0 or 1"},
		{mask: keep, dt: tensor.Float64, bad: of([]float64{-inf, 1, 1}), good: of([]float64{0, 1, 1}),
			says: "keep: got -Inf at element 0, want 0 or 1"},
		{mask: keep, dt: tensor.Int, bad: of([]float64{1, -1, 1}), good: of([]float64{0, 1, 1}),
			says: "keep: got -1 at element 1, want 0 or 1"},
		{mask: keep, dt: tensor.Int64, bad: array{nil, []float64{7}}, good: array{nil, []float64{1}},
			says: "keep: got 7 at element 0, want 0 or 1"},
	} {
		for name, attend := range map[string]func(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error){
			"MaskFill": func(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error) {
				return context(graph.Attention(q, k, v, c))
			},
			"MaskZero": func(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error) {
				c.Renormalize = true
				return context(graph.Attention(q, k, v, c))
			},
			"FusedAttention": graph.FusedAttention,
		} {
			g := G.NewGraph()
			x := node(g, "x", zeros(2, 3, 5), tensor.Float64)
			m := node(g, "m", c.bad, c.dt)
			out, err := attend(x, x, x, graph.AttentionConfig{Mask: c.mask(m)})
			require.NoError(t, err)
			vm, err := machine.New(out)
			require.NoError(t, err)
			require.EqualError(t, vm.RunAll(), "machine: graph: "+name+": "+c.says)
			require.ErrorContains(t, G.NewTapeMachine(g).RunAll(), "graph: "+name+": "+c.says)
			require.NoError(t, G.Let(m, c.good.value(c.dt)))
			require.NoError(t, vm.RunAll())
		}
	}
}
