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
		says   string
	}{
		{nil, G.Nodes{x}, gradcheck.Config{}, "gradcheck: out: got nil or a node of no graph, want a node"},
		{G.NewConstant(1.0), G.Nodes{x}, gradcheck.Config{}, "gradcheck: out: got nil or a node of no graph, want a node"},
		{out, nil, gradcheck.Config{}, "gradcheck: wrt: got no node, want at least one input"},
		{out, G.Nodes{x, nil}, gradcheck.Config{}, "gradcheck: wrt[1]: got nil, want an input"},
		{out, G.Nodes{y}, gradcheck.Config{}, "gradcheck: wrt: y: got a node of another graph, want one of out's"},
		{out, G.Nodes{x, x}, gradcheck.Config{}, "gradcheck: wrt: x: got it twice, want each input once"},
		{out, G.Nodes{out}, gradcheck.Config{}, "got the result of an op, want an input"},
		{out, G.Nodes{narrow}, gradcheck.Config{}, "gradcheck: wrt: narrow: got float32, want float64"},
		{out, G.Nodes{empty}, gradcheck.Config{}, "gradcheck: wrt: empty: got no value, want one bound with gorgonia.Let"},
		{out, G.Nodes{x, nameless}, gradcheck.Config{}, "gradcheck: wrt: wrt[1]: got no value, want one bound with gorgonia.Let"},
		{out, G.Nodes{infinite}, gradcheck.Config{}, "gradcheck: wrt: infinite: got -Inf at [1], want finite values"},
		{G.Must(G.Square(narrow)), G.Nodes{narrow}, gradcheck.Config{}, "gradcheck: out: got float32, want float64"},
		{G.Must(G.Add(x, empty)), G.Nodes{x}, gradcheck.Config{}, `gradcheck: input "empty" has no value; bind one with gorgonia.Let`},
		{out, G.Nodes{x}, gradcheck.Config{Step: math.NaN()}, "gradcheck: Step: got NaN, want 0 or a number from 1e-12 to 0.1"},
		{out, G.Nodes{x}, gradcheck.Config{Step: 1e-13}, "gradcheck: Step: got 1e-13, want 0 or a number from 1e-12 to 0.1"},
		{out, G.Nodes{x}, gradcheck.Config{Step: 1}, "gradcheck: Step: got 1, want 0 or a number from 1e-12 to 0.1"},
		{out, G.Nodes{x}, gradcheck.Config{AbsTol: -1}, "gradcheck: AbsTol: got -1, want 0 or a number above 0, at most 1"},
		{out, G.Nodes{x}, gradcheck.Config{AbsTol: math.Inf(1)}, "gradcheck: AbsTol: got +Inf, want 0 or a number above 0, at most 1"},
		{out, G.Nodes{x}, gradcheck.Config{RelTol: math.NaN()}, "gradcheck: RelTol: got NaN, want 0 or a number above 0, at most 1"},
		{out, G.Nodes{x}, gradcheck.Config{Mode: 2}, "gradcheck: Mode: got Mode(2), want EveryElement or OneDirection"},
	} {
		report, err := gradcheck.Check(c.out, c.wrt, c.config)
		require.ErrorContains(t, err, c.says)
		require.Nil(t, report)
	}
}

func TestWrongTwins(t *testing.T) {
	narrow, wide := G.NewGraph(), G.NewGraph()
	x32, x64 := input32(narrow, "x", 2, 3), input64(wide, "x", 2, 3)
	y64 := input64(wide, "y", 3, 2)
	z64 := G.NewMatrix(wide, tensor.Float64, G.WithName("z"), G.WithShape(2, 3),
		G.WithValue(tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]float64{1, 2, 3, 4, 5, 6}))))
	out32, out64 := G.Must(G.Square(x32)), G.Must(G.Square(x64))
	for _, c := range []struct {
		out32, out64 *G.Node
		wrt32, wrt64 G.Nodes
		config       gradcheck.Config
		says         string
	}{
		{out64, out64, G.Nodes{x64}, G.Nodes{x64}, gradcheck.Config{}, "gradcheck: out: got float64, want float32"},
		{out32, out32, G.Nodes{x32}, G.Nodes{x32}, gradcheck.Config{}, "gradcheck: out: got float32, want float64"},
		{out32, G.Must(G.Sum(out64)), G.Nodes{x32}, G.Nodes{x64}, gradcheck.Config{}, "gradcheck: out64: shape (), want out32's (2, 3)"},
		{out32, out64, G.Nodes{x32}, G.Nodes{x64, y64}, gradcheck.Config{}, "gradcheck: wrt64: got 2 nodes, want wrt32's 1"},
		{out32, out64, G.Nodes{x32}, G.Nodes{y64}, gradcheck.Config{}, "gradcheck: wrt64: y: shape (3, 2), want that of wrt32's x, (2, 3)"},
		{out32, out64, G.Nodes{x32}, G.Nodes{z64}, gradcheck.Config{}, "gradcheck: wrt64: z: got 1 at [0 0], want wrt32's 0.5"},
		{out32, out64, G.Nodes{x32}, G.Nodes{x64}, gradcheck.Config{Step: -1}, "gradcheck: Step: got -1"},
	} {
		report, err := gradcheck.CheckTwin(c.out32, c.wrt32, c.out64, c.wrt64, c.config)
		require.ErrorContains(t, err, c.says)
		require.Nil(t, report)
	}
	// A twin that is another function fails, whichever of the two the input has no part in.
	lone32, lone64 := input32(narrow, "lone", 2, 3), input64(wide, "lone", 2, 3)
	for _, mode := range modes {
		report, err := gradcheck.CheckTwin(out32, G.Nodes{lone32}, out64, G.Nodes{x64}, gradcheck.Config{Mode: mode})
		require.NoError(t, err)
		require.ErrorContains(t, report.Err(), "analytic 0,")
		report, err = gradcheck.CheckTwin(out32, G.Nodes{x32}, out64, G.Nodes{lone64}, gradcheck.Config{Mode: mode})
		require.NoError(t, err)
		require.ErrorContains(t, report.Err(), "numeric 0,")
	}
}
