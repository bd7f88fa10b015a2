package gradcheck_test

import (
	"math"
	"testing"

	"attention/graph/gradcheck"
	"attention/internal/golden"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// vector32 and vector64 return inputs of the same values in their types.
func vector32(g *G.ExprGraph, name string, values ...float64) *G.Node {
	v := golden.Dense(tensor.Float32, values, len(values))
	return G.NewVector(g, tensor.Float32, G.WithName(name), G.WithShape(len(values)), G.WithValue(v))
}

func vector64(g *G.ExprGraph, name string, values ...float64) *G.Node {
	v := golden.Dense(tensor.Float64, values, len(values))
	return G.NewVector(g, tensor.Float64, G.WithName(name), G.WithShape(len(values)), G.WithValue(v))
}

// Values of the float64 graph may be more precise than float32; they are rounded for the
// check.
func TestTwinRounds(t *testing.T) {
	values := []float64{1.0 / 3, 2.0 / 3, -4.0 / 3}
	rounded := make([]float64, len(values))
	for i, x := range values {
		rounded[i] = float64(float32(x))
	}
	for _, mode := range modes {
		var reports []*gradcheck.Report
		for _, wide := range [][]float64{values, rounded} {
			x32, x64 := vector32(G.NewGraph(), "x", values...), vector64(G.NewGraph(), "x", wide...)
			report, err := gradcheck.CheckTwin(G.Must(G.Tanh(x32)), G.Nodes{x32}, G.Must(G.Tanh(x64)), G.Nodes{x64},
				gradcheck.Config{Mode: mode})
			require.NoError(t, err)
			require.NoError(t, report.Err())
			require.Equal(t, 1e-5, report.Config.AbsTol)
			require.Equal(t, 1e-4, report.Config.RelTol)
			require.Equal(t, wide, x64.Value().Data(), "the caller's values stay")
			reports = append(reports, report)
		}
		require.Equal(t, reports[1], reports[0])
	}
}

// cancelling returns 3·(x⊙c) − x⊙c3 in either type. If c3 is 3c, the gradient is nearly zero but a sum of much larger
// terms; if c3 is zero, the gradient is large.
func cancelling(t *testing.T, x *G.Node, c, c3 *G.Node, three any) *G.Node {
	t.Helper()
	left := G.Must(G.Mul(G.NewConstant(three), G.Must(G.HadamardProd(x, c))))
	return G.Must(G.Sub(left, G.Must(G.HadamardProd(x, c3))))
}

// An error of 1e-3 in an element counts as rounding if other elements are 1e4.
func TestTwinToleranceCountsInTheLargest(t *testing.T) {
	check := func(c, c3 []float64) *gradcheck.Report {
		narrow, wide := G.NewGraph(), G.NewGraph()
		x := []float64{0.5, 0.25}
		rounded := make([]float64, len(c))
		rounded3 := make([]float64, len(c))
		for i := range c {
			rounded[i], rounded3[i] = float64(float32(c[i])), float64(float32(c3[i]))
		}
		x32, x64 := vector32(narrow, "x", x...), vector64(wide, "x", x...)
		report, err := gradcheck.CheckTwin(
			cancelling(t, x32, vector32(narrow, "c", rounded...), vector32(narrow, "3c", rounded3...), float32(3)), G.Nodes{x32},
			cancelling(t, x64, vector64(wide, "c", rounded...), vector64(wide, "3c", rounded3...), 3.0), G.Nodes{x64},
			gradcheck.Config{})
		require.NoError(t, err)
		return report
	}
	require.NoError(t, check([]float64{12345.678, 12345.678}, []float64{37037.034, 0}).Err())
	require.Error(t, check([]float64{12345.678, 12345.678}, []float64{37037.034, 37037.034}).Err(), "nothing is large")
}

// The rounding errors of many elements add up along a direction.
func TestTwinToleranceOfADirection(t *testing.T) {
	const n = 10000
	narrow, wide := G.NewGraph(), G.NewGraph()
	x, c, c3 := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		x[i] = 0.5
		c[i] = float64(float32(50 + float64(i%97)/97))
		c3[i] = float64(float32(3 * c[i]))
	}
	x32, x64 := vector32(narrow, "x", x...), vector64(wide, "x", x...)
	report, err := gradcheck.CheckTwin(
		cancelling(t, x32, vector32(narrow, "c", c...), vector32(narrow, "3c", c3...), float32(3)), G.Nodes{x32},
		cancelling(t, x64, vector64(wide, "c", c...), vector64(wide, "3c", c3...), 3.0), G.Nodes{x64},
		gradcheck.Config{Mode: gradcheck.OneDirection})
	require.NoError(t, err)
	require.NoError(t, report.Err())
	worst := report.Inputs[0].Worst
	require.Greater(t, math.Abs(worst.Numeric-worst.Analytic), 2e-5, "more than a single element may be wrong by")
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
		want         string
	}{
		{out32: out64, out64: out64, wrt32: G.Nodes{x64}, wrt64: G.Nodes{x64},
			want: "gradcheck: out: got float64, want float32"},
		{out32: out32, out64: out32, wrt32: G.Nodes{x32}, wrt64: G.Nodes{x32},
			want: "gradcheck: out: got float32, want float64"},
		{out32: out32, out64: G.Must(G.Sum(out64)), wrt32: G.Nodes{x32}, wrt64: G.Nodes{x64},
			want: "gradcheck: out64: shape (), want out32's (2, 3)"},
		{out32: out32, out64: out64, wrt32: G.Nodes{x32}, wrt64: G.Nodes{x64, y64},
			want: "gradcheck: wrt64: got 2 nodes, want wrt32's 1"},
		{out32: out32, out64: out64, wrt32: G.Nodes{x32}, wrt64: G.Nodes{y64},
			want: "gradcheck: wrt64: y: shape (3, 2), want that of wrt32's x, (2, 3)"},
		{out32: out32, out64: out64, wrt32: G.Nodes{x32}, wrt64: G.Nodes{z64},
			want: "gradcheck: wrt64: z: got 1 at [0 0], want wrt32's 0.5"},
		{out32: out32, out64: out64, wrt32: G.Nodes{x32}, wrt64: G.Nodes{x64}, config: gradcheck.Config{Step: -1},
			want: "gradcheck: Step: got -1"},
	} {
		report, err := gradcheck.CheckTwin(c.out32, c.wrt32, c.out64, c.wrt64, c.config)
		require.ErrorContains(t, err, c.want)
		require.Nil(t, report)
	}
	// A twin that computes another function fails, whichever of the two graphs ignores the input.
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
