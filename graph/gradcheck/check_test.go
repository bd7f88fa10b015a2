package gradcheck_test

import (
	"math"
	"testing"

	"attention/graph"
	"attention/graph/gradcheck"
	"attention/graph/machine"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// requireRight checks a graph in both modes.
func requireRight(t *testing.T, out *G.Node, wrt ...*G.Node) {
	t.Helper()
	for _, mode := range modes {
		report, err := gradcheck.Check(out, wrt, gradcheck.Config{Mode: mode, Seed: 7})
		require.NoError(t, err)
		require.NoError(t, report.Err())
		_, worst := report.Worst()
		require.Less(t, worst.RelError, 1e-7, "%v", report)
	}
}

func TestStockOps(t *testing.T) {
	for name, build := range map[string]func(x, y, w *G.Node) (*G.Node, error){
		"Mul":              func(x, _, w *G.Node) (*G.Node, error) { return G.Mul(x, w) },
		"Tanh":             func(x, _, _ *G.Node) (*G.Node, error) { return G.Tanh(x) },
		"HadamardProd":     func(x, y, _ *G.Node) (*G.Node, error) { return G.HadamardProd(x, y) },
		"HadamardDiv":      func(x, y, _ *G.Node) (*G.Node, error) { return G.HadamardDiv(x, y) },
		"Square of itself": func(x, _, _ *G.Node) (*G.Node, error) { return G.HadamardProd(x, x) },
		"Sum, a scalar":    func(x, _, _ *G.Node) (*G.Node, error) { return G.Sum(G.Must(G.Square(x))) },
		"Mean of an axis":  func(x, _, _ *G.Node) (*G.Node, error) { return G.Mean(G.Must(G.Square(x)), 1) },
		"Transpose, Reshape": func(x, _, _ *G.Node) (*G.Node, error) {
			return G.Reshape(G.Must(G.Transpose(x)), tensor.Shape{2, 3})
		},
		"Concat": func(x, y, _ *G.Node) (*G.Node, error) { return G.Concat(1, x, y) },
		"Slice":  func(x, _, _ *G.Node) (*G.Node, error) { return G.Slice(x, nil, G.S(1, 3)) },
		"constants": func(x, _, _ *G.Node) (*G.Node, error) {
			return G.Mul(G.NewConstant(3.0), G.Must(G.Add(x, G.NewConstant(2.0))))
		},
		"the input itself": func(x, _, _ *G.Node) (*G.Node, error) { return x, nil },
		"Sigmoid of Exp":   func(x, y, _ *G.Node) (*G.Node, error) { return G.Sigmoid(G.Must(G.Sub(G.Must(G.Exp(x)), y))) },
		"SoftMax":          func(x, _, w *G.Node) (*G.Node, error) { return G.SoftMax(G.Must(G.Mul(x, w))) },
	} {
		t.Run(name, func(t *testing.T) {
			g := G.NewGraph()
			x, y, w := input64(g, "x", 2, 3), input64(g, "y", 2, 3), input64(g, "w", 3, 5)
			out, err := build(x, y, w)
			require.NoError(t, err)
			requireRight(t, out, x, y, w)
		})
	}
}

// Two of Gorgonia's own gradients are wrong.
func TestStockOpsThatAreWrong(t *testing.T) {
	for name, op := range map[string]func(*G.Node) (*G.Node, error){"InverseSqrt": G.InverseSqrt, "Log2": G.Log2} {
		for _, mode := range modes {
			g := G.NewGraph()
			x := G.NewVector(g, tensor.Float64, G.WithName("x"), G.WithShape(3),
				G.WithValue(tensor.New(tensor.WithBacking([]float64{0.5, 1.5, 2.5}))))
			report, err := gradcheck.Check(G.Must(op(x)), G.Nodes{x}, gradcheck.Config{Mode: mode})
			require.NoError(t, err)
			require.ErrorContains(t, report.Err(), "gradcheck: 1 of 1 gradients are wrong: x (3): FAIL", name)
		}
	}
}

func TestAttention(t *testing.T) {
	g := G.NewGraph()
	q, k, v := input64(g, "q", 2, 3, 5), input64(g, "k", 2, 3, 5), input64(g, "v", 2, 3, 7)
	out, weights, err := graph.Attention(q, k, v, graph.AttentionConfig{Mask: mask.Causal{}})
	require.NoError(t, err)
	requireRight(t, out, q, k, v)
	requireRight(t, weights, q, k, v) // v does not influence the weights

	// One node as q, k and v: the gradients of its three uses add up.
	out, _, err = graph.Attention(q, q, q, graph.AttentionConfig{})
	require.NoError(t, err)
	requireRight(t, out, q)
}

func TestReport(t *testing.T) {
	g := G.NewGraph()
	x, w, unused := input64(g, "x", 2, 3), input64(g, "w", 3, 5), input64(g, "unused", 7)
	out := G.Must(G.Mul(squareOf(x, oneElement), w))
	report, err := gradcheck.Check(out, G.Nodes{x, w, unused}, gradcheck.Config{Seed: 1})
	require.NoError(t, err)
	require.Equal(t, 6+15, report.Compared())
	require.Len(t, report.Inputs, 3)

	name, worst := report.Worst()
	require.Equal(t, "x", name)
	require.Equal(t, []int{1, 1}, worst.Index)
	require.InDelta(t, worst.Numeric*1.01, worst.Analytic, 1e-8)
	want := math.Abs(worst.Analytic-worst.Numeric) / (math.Abs(worst.Analytic) + 0.01)
	require.InDelta(t, want, worst.RelError, 1e-8)

	require.Regexp(t, `^x \(2, 3\): FAIL: 1 of 6 elements differ by more than 1e-05, worst at \[1 1\]: `+
		`analytic [-.\d]+, numeric [-.\d]+, relative error 0.00\d+
w \(3, 5\): ok: 15 compared, worst at \[\d \d\]: analytic [-.\d]+, numeric [-.\d]+, relative error [\de.-]+
unused \(7\): ok: does not influence the output, gradient zero$`, report.String())
	require.EqualError(t, report.Err(), "gradcheck: 1 of 3 gradients are wrong: "+report.Inputs[0].String())

	again, err := gradcheck.Check(out, G.Nodes{x, w, unused}, gradcheck.Config{Seed: 1})
	require.NoError(t, err)
	require.Equal(t, report, again, "the same seed gives the same report")
	other, err := gradcheck.Check(out, G.Nodes{x, w, unused}, gradcheck.Config{Seed: 2})
	require.NoError(t, err)
	require.NotEqual(t, report.Inputs[1].Worst, other.Inputs[1].Worst)

	report, err = gradcheck.Check(out, G.Nodes{x, unused}, gradcheck.Config{Mode: gradcheck.OneDirection})
	require.NoError(t, err)
	require.Equal(t, 1, report.Compared())
	require.ErrorContains(t, report.Err(),
		"x (2, 3): FAIL: differs by more than 1e-05 along a random direction: analytic ")
}

// A graph that was checked trains like one that was not.
func TestNothingOfTheGraphChanges(t *testing.T) {
	build := func() (g *G.ExprGraph, x, w, out, cost *G.Node) {
		g = G.NewGraph()
		x, w = input64(g, "x", 2, 3), input64(g, "w", 3, 5)
		out = G.Must(graph.Softmax(G.Must(graph.MatMul(x, w))))
		return g, x, w, out, G.Must(G.Sum(G.Must(G.HadamardProd(out, G.Must(G.Tanh(out))))))
	}
	gradients := func(cost, x, w *G.Node) [][]float64 {
		grads, err := G.Grad(cost, x, w)
		require.NoError(t, err)
		m, err := machine.New(grads...)
		require.NoError(t, err)
		require.NoError(t, m.RunAll())
		return [][]float64{grads[0].Value().Data().([]float64), grads[1].Value().Data().([]float64)}
	}
	_, x, w, _, cost := build()
	want := gradients(cost, x, w)

	g, x, w, out, cost := build()
	nodes := len(g.AllNodes())
	memory := x.Value().(*tensor.Dense)
	for _, mode := range modes {
		requireRight(t, out, x, w)
		_, err := gradcheck.Check(cost, G.Nodes{w}, gradcheck.Config{Mode: mode})
		require.NoError(t, err)
	}
	require.Len(t, g.AllNodes(), nodes)
	require.Nil(t, out.Deriv())
	require.Nil(t, out.Value())
	require.Same(t, memory, x.Value())
	require.Equal(t, values(6), memory.Data())
	require.Equal(t, want, gradients(cost, x, w))
	requireRight(t, out, x, w) // also after Grad
}

func TestScalars(t *testing.T) {
	g := G.NewGraph()
	s := G.NewScalar(g, tensor.Float64, G.WithName("s"), G.WithValue(1.5))
	x := input64(g, "x", 2, 3)
	requireRight(t, G.Must(G.Mul(s, x)), s, x)
	requireRight(t, G.Must(G.Tanh(s)), s)

	dense := G.NewScalar(g, tensor.Float64, G.WithName("dense"))
	require.NoError(t, G.Let(dense, tensor.New(tensor.FromScalar(0.25))))
	report, err := gradcheck.Check(G.Must(G.Exp(dense)), G.Nodes{dense}, gradcheck.Config{})
	require.NoError(t, err)
	require.NoError(t, report.Err())
	require.Equal(t, []int{}, report.Inputs[0].Worst.Index)
}

// Values of inputs may be transposed views, slices, and in column-major order.
func TestViews(t *testing.T) {
	transposed := tensor.New(tensor.WithShape(3, 2), tensor.WithBacking(values(6)))
	require.NoError(t, transposed.T())
	sliced, err := tensor.New(tensor.WithShape(2, 5), tensor.WithBacking(values(10))).Slice(nil, G.S(1, 4))
	require.NoError(t, err)
	columns := tensor.New(tensor.WithShape(2, 3), tensor.AsFortran(values(6)))
	for i, v := range []tensor.Tensor{transposed, sliced, columns} {
		g := G.NewGraph()
		x := G.NewMatrix(g, tensor.Float64, G.WithName("x"), G.WithShape(2, 3))
		require.NoError(t, G.UnsafeLet(x, G.Value(v.(*tensor.Dense))), i)
		y := squareOf(x, oneElement)
		report, err := gradcheck.Check(y, G.Nodes{x}, gradcheck.Config{})
		require.NoError(t, err, i)
		at, err := v.At(1, 1)
		require.NoError(t, err)
		require.Equal(t, []int{1, 1}, report.Inputs[0].Worst.Index)
		slope := math.Abs(report.Inputs[0].Worst.Numeric / at.(float64))
		require.True(t, slope > 1-1e-6 && slope < 1.8+1e-6, "2·r with 0.5 <= r <= 0.9, got %v", slope)
	}
}

// Where an op stops gradients, the differences decide whether that is right.
func TestNotDifferentiable(t *testing.T) {
	g := G.NewGraph()
	x, keep := input64(g, "x", 2, 3), input64(g, "keep", 2, 3)
	constant, err := graph.Detach(keep)
	require.NoError(t, err)
	out, err := graph.Mul(x, constant)
	require.NoError(t, err)
	requireRight(t, out, x)
	report, err := gradcheck.Check(out, G.Nodes{x, keep}, gradcheck.Config{})
	require.NoError(t, err)
	require.Empty(t, report.Inputs[0].Failures)
	require.Contains(t, report.Inputs[1].String(), "keep (2, 3): FAIL: 6 of 6 elements differ")
	require.Contains(t, report.Inputs[1].String(), "analytic 0,")

	// The derivative of a comparison is zero wherever it exists.
	bound := G.NewMatrix(g, tensor.Float64, G.WithName("bound"), G.WithShape(2, 3),
		G.WithValue(tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]float64{0.1, 0.2, 0.3, 0.4, 0.1, 0.2}))))
	above, err := G.Gt(x, bound, true)
	require.NoError(t, err)
	requireRight(t, G.Must(G.HadamardProd(above, x)), x, bound)
}

func TestOneTensorInTwoInputs(t *testing.T) {
	g := G.NewGraph()
	v := tensor.New(tensor.WithShape(2, 3), tensor.WithBacking(values(6)))
	x := G.NewMatrix(g, tensor.Float64, G.WithName("x"), G.WithShape(2, 3), G.WithValue(v))
	y := G.NewMatrix(g, tensor.Float64, G.WithName("y"), G.WithShape(2, 3), G.WithValue(v))
	requireRight(t, G.Must(G.HadamardProd(x, y)), x, y)
	requireRight(t, G.Must(G.HadamardProd(x, y)), x)
}

// In mode OneDirection all elements move together. A step of full length would have an error of 5e-6 here, from the
// curvature of exp.
func TestShortStepsForManyElements(t *testing.T) {
	const n = 10000
	g := G.NewGraph()
	x := G.NewVector(g, tensor.Float64, G.WithName("x"), G.WithShape(n), G.WithInit(G.Zeroes()))
	out := G.Must(G.Exp(G.Must(G.Mul(G.NewConstant(10.0), G.Must(G.Sum(x))))))
	for seed := range uint64(5) {
		report, err := gradcheck.Check(out, G.Nodes{x},
			gradcheck.Config{Mode: gradcheck.OneDirection, RelTol: 1e-7, Seed: seed})
		require.NoError(t, err)
		require.NoError(t, report.Err())
	}
}
