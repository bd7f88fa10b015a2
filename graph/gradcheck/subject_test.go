package gradcheck_test

import (
	"math"
	"testing"

	"attention/graph/gradcheck"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func TestWrongArguments(t *testing.T) {
	g, other := G.NewGraph(), G.NewGraph()
	x, y := input64(g, "x", 2, 3), input64(other, "y", 2, 3)
	out := G.Must(G.Square(x))
	empty := G.NewMatrix(g, tensor.Float64, G.WithName("empty"), G.WithShape(2, 3))
	infinite := G.NewVector(g, tensor.Float64, G.WithName("infinite"), G.WithShape(2),
		G.WithValue(tensor.New(tensor.WithBacking([]float64{1, math.Inf(-1)}))))
	narrow := input32(g, "narrow", 2, 3)
	nameless := G.NewVector(g, tensor.Float64, G.WithShape(2))
	for _, c := range []struct {
		out    *G.Node
		wrt    G.Nodes
		config gradcheck.Config
		want   string
	}{
		{wrt: G.Nodes{x}, want: "gradcheck: out: got nil or a node of no graph, want a node"},
		{out: G.NewConstant(1.0), wrt: G.Nodes{x}, want: "gradcheck: out: got nil or a node of no graph, want a node"},
		{out: out, want: "gradcheck: wrt: got no node, want at least one input"},
		{out: out, wrt: G.Nodes{x, nil}, want: "gradcheck: wrt[1]: got nil, want an input"},
		{out: out, wrt: G.Nodes{y}, want: "gradcheck: wrt: y: got a node of another graph, want one of out's"},
		{out: out, wrt: G.Nodes{x, x}, want: "gradcheck: wrt: x: got it twice, want each input once"},
		{out: out, wrt: G.Nodes{out}, want: "got the result of an op, want an input"},
		{out: out, wrt: G.Nodes{narrow}, want: "gradcheck: wrt: narrow: got float32, want float64"},
		{out: out, wrt: G.Nodes{empty}, want: "gradcheck: wrt: empty: got no value, want one bound with gorgonia.Let"},
		{out: out, wrt: G.Nodes{x, nameless}, want: "gradcheck: wrt: wrt[1]: got no value, want one bound with gorgonia.Let"},
		{out: out, wrt: G.Nodes{infinite}, want: "gradcheck: wrt: infinite: got -Inf at [1], want finite values"},
		{out: G.Must(G.Square(narrow)), wrt: G.Nodes{narrow}, want: "gradcheck: out: got float32, want float64"},
		{out: G.Must(G.Add(x, empty)), wrt: G.Nodes{x},
			want: `gradcheck: input "empty" has no value; bind one with gorgonia.Let`},
		{out: out, wrt: G.Nodes{x}, config: gradcheck.Config{Step: math.NaN()},
			want: "gradcheck: Step: got NaN, want 0 or a number from 1e-12 to 0.1"},
		{out: out, wrt: G.Nodes{x}, config: gradcheck.Config{Step: 1e-13},
			want: "gradcheck: Step: got 1e-13, want 0 or a number from 1e-12 to 0.1"},
		{out: out, wrt: G.Nodes{x}, config: gradcheck.Config{Step: 1},
			want: "gradcheck: Step: got 1, want 0 or a number from 1e-12 to 0.1"},
		{out: out, wrt: G.Nodes{x}, config: gradcheck.Config{AbsTol: -1},
			want: "gradcheck: AbsTol: got -1, want 0 or a number above 0, at most 1"},
		{out: out, wrt: G.Nodes{x}, config: gradcheck.Config{AbsTol: math.Inf(1)},
			want: "gradcheck: AbsTol: got +Inf, want 0 or a number above 0, at most 1"},
		{out: out, wrt: G.Nodes{x}, config: gradcheck.Config{RelTol: math.NaN()},
			want: "gradcheck: RelTol: got NaN, want 0 or a number above 0, at most 1"},
		{out: out, wrt: G.Nodes{x}, config: gradcheck.Config{Mode: 2},
			want: "gradcheck: Mode: got Mode(2), want EveryElement or OneDirection"},
	} {
		report, err := gradcheck.Check(c.out, c.wrt, c.config)
		require.ErrorContains(t, err, c.want)
		require.Nil(t, report)
	}
}
