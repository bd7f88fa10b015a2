package gradcheck_test

import (
	"math"
	"testing"

	"attention/graph/gradcheck"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// vector32 and vector64 are inputs of the same values, as either type holds them.
func vector32(g *G.ExprGraph, name string, values ...float64) *G.Node {
	narrow := make([]float32, len(values))
	for i, x := range values {
		narrow[i] = float32(x)
	}
	return G.NewVector(g, tensor.Float32, G.WithName(name), G.WithShape(len(values)), G.WithValue(tensor.New(tensor.WithBacking(narrow))))
}

func vector64(g *G.ExprGraph, name string, values ...float64) *G.Node {
	return G.NewVector(g, tensor.Float64, G.WithName(name), G.WithShape(len(values)), G.WithValue(tensor.New(tensor.WithBacking(values))))
}

// TestTwinRounds: the float64 values may be more precise than float32 can hold, and
// are rounded for the check.
func TestTwinRounds(t *testing.T) {
	values := []float64{1.0 / 3, 2.0 / 3, -4.0 / 3}
	rounded := make([]float64, len(values))
	for i, x := range values {
		rounded[i] = float64(float32(x))
	}
	for _, mode := range modes {
		var reports []*gradcheck.Report
		for _, wide := range [][]float64{values, rounded} {
			x32, x64 := vector32(G.NewGraph(), "x", values...), vector64(G.NewGraph(), "x", append([]float64{}, wide...)...)
			report, err := gradcheck.CheckTwin(G.Must(G.Tanh(x32)), G.Nodes{x32}, G.Must(G.Tanh(x64)), G.Nodes{x64}, gradcheck.Config{Mode: mode})
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

// cancelling is 3·(x⊙c) − x⊙3c, nearly zero, in either type: a gradient made of
// much larger terms. c is large where x's gradient is to stay small, and 3c is zero
// where it is to be large.
func cancelling(t *testing.T, x *G.Node, c, c3 *G.Node, three any) *G.Node {
	t.Helper()
	left := G.Must(G.Mul(G.NewConstant(three), G.Must(G.HadamardProd(x, c))))
	return G.Must(G.Sub(left, G.Must(G.HadamardProd(x, c3))))
}

// TestTwinToleranceCountsInTheLargest: an error of 1e-3 in an element is rounding
// where others are 1e4.
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
			cancelling(t, x64, vector64(wide, "c", rounded...), vector64(wide, "3c", rounded3...), 3.0), G.Nodes{x64}, gradcheck.Config{})
		require.NoError(t, err)
		return report
	}
	require.NoError(t, check([]float64{12345.678, 12345.678}, []float64{37037.034, 0}).Err())
	require.Error(t, check([]float64{12345.678, 12345.678}, []float64{37037.034, 37037.034}).Err(), "nothing is large")
}

// TestTwinToleranceOfADirection: the roundings of many elements add up.
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
