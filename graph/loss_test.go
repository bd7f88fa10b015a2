package graph_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"attention/graph"
	"attention/internal/golden"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A lossOp is a loss of single elements, with its formula.
type lossOp struct {
	name string
	op   func(x, y *G.Node, r graph.Reduction) (*G.Node, error)
	of   func(x, y float64) float64
	in   func(r *rand.Rand, shape ...int) (x, y array)
}

func lossOps() []lossOp {
	huber := func(d, delta float64) float64 {
		if d = math.Abs(d); d <= delta {
			return d * d / 2
		}
		return delta * (d - delta/2)
	}
	drawn := func(target func(v float64) float64) func(r *rand.Rand, shape ...int) (x, y array) {
		return func(r *rand.Rand, shape ...int) (x, y array) {
			x, y = normal(r, shape...), normal(r, shape...)
			for i, v := range y.v {
				y.v[i] = target(v)
			}
			return x, y
		}
	}
	same := func(v float64) float64 { return v }
	return []lossOp{
		{name: "mse", in: drawn(same), of: func(x, y float64) float64 { return (x - y) * (x - y) },
			op: func(x, y *G.Node, r graph.Reduction) (*G.Node, error) {
				return graph.MSE(x, y, graph.LossConfig{Reduction: r})
			}},
		{name: "l1", in: drawn(same), of: func(x, y float64) float64 { return math.Abs(x - y) },
			op: func(x, y *G.Node, r graph.Reduction) (*G.Node, error) {
				return graph.L1(x, y, graph.LossConfig{Reduction: r})
			}},
		{name: "huber", in: drawn(same), of: func(x, y float64) float64 { return huber(x-y, 0.7) },
			op: func(x, y *G.Node, r graph.Reduction) (*G.Node, error) {
				return graph.Huber(x, y, graph.HuberConfig{Reduction: r, Delta: 0.7})
			}},
		{name: "smooth_l1", in: drawn(same), of: func(x, y float64) float64 { return huber(x-y, 0.7) / 0.7 },
			op: func(x, y *G.Node, r graph.Reduction) (*G.Node, error) {
				return graph.SmoothL1(x, y, graph.HuberConfig{Reduction: r, Delta: 0.7})
			}},
		{name: "bce", in: drawn(func(v float64) float64 { return 1 / (1 + math.Exp(v)) }),
			of: func(x, y float64) float64 {
				return y*math.Log1p(math.Exp(-x)) + (1-y)*(x+math.Log1p(math.Exp(-x)))
			},
			op: func(x, y *G.Node, r graph.Reduction) (*G.Node, error) {
				return graph.BCEWithLogits(x, y, graph.BCEConfig{Reduction: r})
			}},
		{name: "kl_div", in: drawn(math.Abs), of: func(x, y float64) float64 { return y * (math.Log(y) - x) },
			op: func(x, y *G.Node, r graph.Reduction) (*G.Node, error) {
				return graph.KLDiv(x, y, graph.KLDivConfig{Reduction: r})
			}},
		{name: "kl_div_logs", in: drawn(same), of: func(x, y float64) float64 { return math.Exp(y) * (y - x) },
			op: func(x, y *G.Node, r graph.Reduction) (*G.Node, error) {
				return graph.KLDiv(x, y, graph.KLDivConfig{Reduction: r, LogTarget: true})
			}},
	}
}

func lossCases() []opCase {
	cases := []opCase{
		{name: "bce_weighted", in: shapes(s{2, 3, 5}, s{2, 3, 5}, s{3, 1}),
			op: func(in G.Nodes) (*G.Node, error) {
				return graph.BCEWithLogits(in[0], in[1], graph.BCEConfig{PosWeight: in[2]})
			},
			want: func(in []array) array {
				each := naiveBroadcast(in, func(v []float64) float64 {
					return v[2]*v[1]*math.Log1p(math.Exp(-v[0])) + (1-v[1])*(v[0]+math.Log1p(math.Exp(-v[0])))
				})
				return array{nil, []float64{sumOf(each.v) / float64(len(each.v))}}
			}},
		{name: "kl_div_batch", in: shapes(s{3, 5}, s{3, 5}),
			op: func(in G.Nodes) (*G.Node, error) {
				return graph.KLDiv(in[0], in[1], graph.KLDivConfig{Reduction: graph.BatchMeanReduction, LogTarget: true})
			},
			want: func(in []array) array {
				each := naiveBroadcast(in, func(v []float64) float64 { return math.Exp(v[1]) * (v[1] - v[0]) })
				return array{nil, []float64{sumOf(each.v) / 3}}
			}},
	}
	cases[0].in = func(r *rand.Rand) []input {
		in := shapes(s{2, 3, 5}, s{2, 3, 5}, s{3, 1})(r)
		in[2].fixed = true
		return in
	}
	for _, f := range lossOps() {
		for _, r := range []graph.Reduction{graph.MeanReduction, graph.SumReduction, graph.NoReduction} {
			for i, shape := range []s{{2, 3, 5}, {4099}, nil} {
				cases = append(cases, opCase{name: f.name + "_" + r.String() + []string{"", "_long", "_scalar"}[i],
					op: func(in G.Nodes) (*G.Node, error) { return f.op(in[0], in[1], r) },
					in: func(random *rand.Rand) []input {
						x, y := f.in(random, shape...)
						return inputs(x, y)
					},
					want: func(in []array) array { return naiveLoss(in[0], in[1], r, f.of) }})
			}
		}
	}
	return cases
}

func naiveLoss(x, y array, r graph.Reduction, of func(x, y float64) float64) array {
	each := x.like()
	for i, v := range x.v {
		each.v[i] = of(v, y.v[i])
	}
	switch r {
	case graph.MeanReduction:
		return array{nil, []float64{sumOf(each.v) / float64(len(x.v))}}
	case graph.SumReduction:
		return array{nil, []float64{sumOf(each.v)}}
	}
	return each
}

// The mean of 1.5 and of 17 million losses in float32 agrees with float64's to 1e-6, although float32 counts to 2²⁴
// only. Its bits do not depend on the number of processors.
func TestLossesOfManyElements(t *testing.T) {
	sizes := []int{1_500_000, 17_000_000}
	if testing.Short() {
		sizes = sizes[:1]
	}
	for size, n := range sizes {
		x, y := make([]float32, n), make([]float32, n)
		for i := range x {
			x[i] = float32(3 * math.Sin(float64(i)))
			y[i] = float32(0.5 + 0.4*math.Cos(float64(i)/3))
		}
		ops := lossOps()
		if size > 0 && !testenv.All { // the sums are the same code
			ops = ops[:1]
		}
		for _, f := range ops {
			want := 0.0
			for i := range x {
				want += f.of(float64(x[i]), float64(y[i])) / float64(n)
			}
			g := G.NewGraph()
			in := func(name string, v []float32) *G.Node {
				return G.NewVector(g, tensor.Float32, G.WithShape(n), G.WithName(name),
					G.WithValue(tensor.New(tensor.WithShape(n), tensor.WithBacking(v))))
			}
			loss, err := f.op(in("x", x), in("y", y), graph.MeanReduction)
			require.NoError(t, err)
			got := onBoth(t, loss)
			require.InEpsilon(t, want, got.v[0], 1e-6, "%s of %d", f.name, n)
			before := runtime.GOMAXPROCS(1)
			require.Equal(t, bits(got), bits(onBoth(t, loss)))
			runtime.GOMAXPROCS(before)
		}
	}
}

// The loss of nearly certain logits, and of huge ones, is as exact as any; a target of 0 has no divergence, whatever
// the input.
func TestLossesOfExtremeNumbers(t *testing.T) {
	bce, kl := lossOps()[4].op, lossOps()[5].op
	for _, c := range []struct {
		name       string
		op         func(x, y *G.Node, r graph.Reduction) (*G.Node, error)
		x, y, want float64
	}{
		{name: "sure and right", op: bce, x: 20, y: 1, want: math.Log1p(math.Exp(-20))},
		{name: "sure that not, right", op: bce, x: -20, y: 0, want: math.Log1p(math.Exp(-20))},
		{name: "sure and wrong", op: bce, x: -1e4, y: 1, want: 1e4},
		{name: "huge", op: bce, x: 1e30, y: 1, want: 0},
		{name: "impossible", op: bce, x: -inf, y: 1, want: inf},
		{name: "NaN", op: bce, x: nan, y: 1, want: nan},
		{name: "nothing of the impossible", op: kl, x: -inf, y: 0, want: 0},
		{name: "something of the impossible", op: kl, x: -inf, y: 0.5, want: inf},
		{name: "no probability", op: kl, x: -1, y: -0.5, want: nan},
	} {
		for _, p := range tolerances {
			e := express(t, func(in G.Nodes) (*G.Node, error) { return c.op(in[0], in[1], graph.NoReduction) },
				inputs(of([]float64{c.x}), of([]float64{c.y})), p.dt)
			got := e.onOurs(t).out.v[0]
			golden.Close(t, c.name, []float64{c.want}, []float64{got}, 0, 2e-7)
		}
	}
}

// L1 passes no gradient where input and target are equal; NaN stays NaN.
func TestSlopeOfEquals(t *testing.T) {
	x, y := of([]float64{1, 2, 3, nan, inf}), of([]float64{1, 1, 4, 0, 0})
	in := inputs(x, y)
	for _, p := range tolerances {
		e := express(t, func(in G.Nodes) (*G.Node, error) { return graph.L1(in[0], in[1], graph.LossConfig{}) }, in, p.dt)
		e.differentiate(t, in, array{v: []float64{5}}, p.dt)
		got := e.onOurs(t)
		near(t, "dx", of([]float64{0, 1, -1, nan, 1}), got.grads[0], 1e-15)
	}
}

func TestWrongLossesAreRefused(t *testing.T) {
	b := bench{G.NewGraph()}
	mse := func(r graph.Reduction) func(...*G.Node) (*G.Node, error) {
		return two(func(x, y *G.Node) (*G.Node, error) { return graph.MSE(x, y, graph.LossConfig{Reduction: r}) })
	}
	huber := func(delta float64) func(...*G.Node) (*G.Node, error) {
		return two(func(x, y *G.Node) (*G.Node, error) { return graph.Huber(x, y, graph.HuberConfig{Delta: delta}) })
	}
	bce := three(func(x, y, w *G.Node) (*G.Node, error) {
		return graph.BCEWithLogits(x, y, graph.BCEConfig{PosWeight: w})
	})
	refuseAll(t, []refusal{
		{call: call(mse(0), b.f(2, 3), b.f(3, 2)), want: "MSE: target: shape (3, 2), want (2, 3)"},
		{call: call(mse(graph.BatchMeanReduction), b.f(3), b.f(3)),
			want: "MSE: reduction: got batchmean, want one of [mean sum none]"},
		{call: call(mse(-1), b.f(3), b.f(3)), want: "MSE: reduction: got reduction -1, want one of [mean sum none]"},
		{call: call(huber(-1), b.f(3), b.f(3)), want: "Huber: delta: got -1, want a finite number above 0, or 0 for 1"},
		{call: call(huber(nan), b.f(3), b.f(3)), want: "Huber: delta: got NaN, want a finite number above 0, or 0 for 1"},
		{call: call(bce, b.f(2, 3), b.f(2, 3), b.f(2)),
			want: "BCEWithLogits: pos_weight: shape (2), want one that broadcasts with (2, 3)"},
		{call: call(bce, b.f(3), b.f(3), b.f(2, 3)),
			want: "BCEWithLogits: pos_weight: shape (2, 3), want one that broadcasts to (3)"},
		{call: call(two(func(x, y *G.Node) (*G.Node, error) {
			return graph.KLDiv(x, y, graph.KLDivConfig{Reduction: graph.BatchMeanReduction})
		}), b.f(), b.f()), want: "KLDiv: input: shape (), want (B, …) for batchmean"},
	})
}
