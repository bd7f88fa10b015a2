package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// linearCrossEntropyBy takes x, weight, targets and, if there is a fourth, the classes' weight.
func linearCrossEntropyBy(c graph.LinearCrossEntropyConfig) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) {
		if len(in) > 3 {
			c.Weight = in[3]
		}
		return graph.LinearCrossEntropy(in[0], in[1], in[2], c)
	}
}

// wholeCrossEntropyBy computes the same with a product and a loss.
func wholeCrossEntropyBy(c graph.LinearCrossEntropyConfig) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) {
		logits, err := graph.Linear(in[0], in[1], nil)
		if err == nil && c.Scale != 0 {
			logits, err = graph.Scale(logits, c.Scale)
		}
		if err == nil && c.Softcap != 0 {
			logits, err = graph.Softcap(logits, c.Softcap)
		}
		if err != nil {
			return nil, err
		}
		if len(in) > 3 {
			c.Weight = in[3]
		}
		return graph.CrossEntropy(logits, in[2], c.CrossEntropyConfig)
	}
}

func linearCrossEntropyCases() []opCase {
	targets := ids([]float64{6, 0, -100, 1, -100, 1}, 2, 3)
	weight := input{array: of([]float64{1, 2, 0.5, 3, 0, 0.25, 1.5}), fixed: true}
	var cases []opCase
	for _, c := range []struct {
		name       string
		config     graph.CrossEntropyConfig
		scale, cap float64
	}{
		{name: "", config: graph.CrossEntropyConfig{}},
		{name: "_scaled", scale: 0.3},
		{name: "_capped", cap: 0.7},
		{name: "_both", scale: 2.5, cap: 3},
		{name: "_both_smooth", scale: 2.5, cap: 3, config: graph.CrossEntropyConfig{LabelSmoothing: 0.1}},
		{name: "_smooth", config: graph.CrossEntropyConfig{LabelSmoothing: 0.1}},
		{name: "_sum", config: graph.CrossEntropyConfig{Reduction: graph.SumReduction}},
		{name: "_ignore", config: graph.CrossEntropyConfig{Ignore: []int{0}}},
	} {
		want := func(in []array) array {
			weight := slices.Repeat([]float64{1}, 7)
			if len(in) > 3 {
				weight = in[3].v
			}
			logits := zeros(2, 3, 7)
			for i := range logits.v {
				for k := range 5 {
					logits.v[i] += in[0].v[i/7*5+k] * in[1].v[i%7*5+k]
				}
			}
			for i, v := range logits.v {
				if c.scale != 0 {
					v *= c.scale
				}
				if c.cap != 0 {
					v = c.cap * math.Tanh(v/c.cap)
				}
				logits.v[i] = v
			}
			return naiveCrossEntropy(logits, in[2], weight, c.config)
		}
		in := then(shapes(s{2, 3, 5}, s{7, 5}), targets)
		for _, along := range []struct {
			name string
			x, w bool
		}{{name: "", x: true, w: true}, {name: "_later"}, {name: "_x", x: true}, {name: "_w", w: true}} {
			config := graph.LinearCrossEntropyConfig{CrossEntropyConfig: c.config, Scale: c.scale, Softcap: c.cap,
				WithX: along.x, WithWeight: along.w}
			name, op := "linear_cross_entropy"+c.name+along.name, linearCrossEntropyBy(config)
			cases = append(cases, opCase{name: name, op: op, want: want, in: in},
				opCase{name: name + "_weighted", op: op, want: want, in: then(in, weight)})
		}
	}
	return cases
}

// The loss and its gradients are those of all logits, whether in blocks of rows or all at once. The gradients are equal
// to the bit, since products sum over equally many rows at a time, and a scale that is a power of 2 does not round. The
// loss of several blocks is a sum of their sums. With 33 000 classes, 513 rows are three blocks.
func TestLinearCrossEntropyEqualsCrossEntropyOfLinear(t *testing.T) {
	for _, c := range []struct {
		name       string
		rows, cols int
		same       bool // the loss, to the bit
		x, w       bool
		scale, cap float64
	}{
		{name: "few logits", rows: 77, cols: 1031, same: true, x: true, w: true},
		{name: "few logits, scaled, capped", rows: 77, cols: 1031, same: true, x: true, w: true, scale: 4, cap: 3},
		{name: "one row, capped", rows: 1, cols: 11, same: true, x: true, cap: 0.5},
		{name: "blocks, scaled, capped", rows: 257, cols: 66_000, x: true, w: true, scale: 0.5, cap: 5},
		{name: "one row", rows: 1, cols: 11, same: true, x: true, w: true},
		{name: "two classes", rows: 5, cols: 2, same: true, x: true, w: true},
		{name: "blocks", rows: 513, cols: 33_000, x: true, w: true},
		{name: "blocks, gradient of weight later", rows: 257, cols: 66_000, x: true},
	} {
		for _, p := range tolerances {
			if c.rows*c.cols > 1<<24 && (testing.Short() || !testenv.All && (p.dt == tensor.Float64 || !c.w)) {
				continue
			}
			t.Run(c.name+"/"+p.dt.String(), func(t *testing.T) {
				r := rand.New(rand.NewPCG(5, 6))
				targets := zeros(c.rows)
				for i := range targets.v {
					targets.v[i] = float64(r.IntN(c.cols))
				}
				if c.rows > 1 {
					targets.v[c.rows/2] = graph.IgnoreTarget
				}
				in := append(inputs(normal(r, c.rows, 5), normal(r, c.cols, 5)), input{array: targets, integer: true})
				config := graph.LinearCrossEntropyConfig{WithX: c.x, WithWeight: c.w, Scale: c.scale, Softcap: c.cap}
				whole := lossAndGradients(t, wholeCrossEntropyBy(config), in, p.dt)
				for range 2 {
					blocks := lossAndGradients(t, linearCrossEntropyBy(config), in, p.dt)
					if c.same {
						require.Equal(t, bits(whole.out), bits(blocks.out))
					}
					require.InEpsilon(t, whole.out.v[0], blocks.out.v[0], p.tol/10)
					for i := range whole.grads {
						require.Equal(t, bits(whole.grads[i]), bits(blocks.grads[i]), "gradient %d", i)
					}
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				}
			})
		}
	}
}

// lossAndGradients returns a loss and its gradients, as gorgonia.Grad makes them.
func lossAndGradients(t *testing.T, op func(in G.Nodes) (*G.Node, error), in []input, dt tensor.Dtype) result {
	t.Helper()
	e := express(t, op, in, dt)
	var err error
	e.grads, err = G.Grad(e.out, e.in[0], e.in[1])
	require.NoError(t, err)
	return e.onOurs(t)
}

// A loss that is scaled scales its gradients.
func TestLinearCrossEntropyScaled(t *testing.T) {
	config := graph.LinearCrossEntropyConfig{WithX: true, WithWeight: true}
	scaled := func(op func(in G.Nodes) (*G.Node, error)) func(in G.Nodes) (*G.Node, error) {
		return func(in G.Nodes) (*G.Node, error) {
			loss, err := op(in)
			if err != nil {
				return nil, err
			}
			return graph.Scale(loss, 3)
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	in := append(inputs(normal(r, 3, 5), normal(r, 7, 5)), ids([]float64{1, 6, 0}))
	want := lossAndGradients(t, scaled(wholeCrossEntropyBy(config)), in, tensor.Float64)
	got := lossAndGradients(t, scaled(linearCrossEntropyBy(config)), in, tensor.Float64)
	near(t, "loss", want.out, got.out, 1e-12)
	for i := range want.grads {
		near(t, fmt.Sprint("gradient ", i), want.grads[i], got.grads[i], 1e-12)
	}
}

// A huge logit does not become infinite, and a logit of −∞ does not make the gradient infinite.
func TestLinearCrossEntropyOfHugeLogits(t *testing.T) {
	in := append(inputs(of([]float64{1e18, -1e18, 1, 0}, 2, 2), of([]float64{1, 0, 0, 1, 1, 1}, 3, 2)),
		ids([]float64{0, 2}))
	got := lossAndGradients(t, linearCrossEntropyBy(graph.LinearCrossEntropyConfig{WithX: true, WithWeight: true}), in,
		tensor.Float32)
	near(t, "loss", array{[]int{}, []float64{math.Log(2+math.Exp(-1)) / 2}}, got.out, 1e-6)
	for _, g := range got.grads {
		for _, v := range g.v {
			require.False(t, math.IsNaN(v) || math.IsInf(v, 0), g.v)
		}
	}
}

// A run allocates nothing: the machine plans the workspace for the logits.
func TestLinearCrossEntropyAllocatesNothing(t *testing.T) {
	if testenv.Race {
		t.Skip("the race detector allocates")
	}
	r := rand.New(rand.NewPCG(5, 6))
	in := append(inputs(normal(r, 3, 5), normal(r, 7, 5)), ids([]float64{1, 6, 0}))
	for _, c := range []graph.LinearCrossEntropyConfig{{}, {WithX: true, WithWeight: true},
		{WithX: true, WithWeight: true, Scale: 0.3, Softcap: 2}} {
		e := express(t, linearCrossEntropyBy(c), in, tensor.Float32)
		grads, err := G.Grad(e.out, e.in[0], e.in[1])
		require.NoError(t, err)
		m, err := machine.New(append(grads, e.out)...)
		require.NoError(t, err)
		require.NoError(t, m.RunAll())
		require.Zero(t, testing.AllocsPerRun(10, func() { require.NoError(t, m.RunAll()) }))
	}
}

func TestLinearCrossEntropyRefuses(t *testing.T) {
	of := func(x, w []int, targets int, c graph.LinearCrossEntropyConfig) error {
		g := G.NewGraph()
		in := func(name string, dt tensor.Dtype, shape ...int) *G.Node {
			return G.NewTensor(g, dt, len(shape), G.WithName(name), G.WithShape(shape...))
		}
		_, err := graph.LinearCrossEntropy(in("x", tensor.Float32, x...), in("w", tensor.Float32, w...),
			in("t", tensor.Int, targets), c)
		return err
	}
	none := graph.LinearCrossEntropyConfig{}
	require.EqualError(t, of(s{3, 5}, s{7, 4}, 3, none), "graph: LinearCrossEntropy: weight: shape (7, 4), want (V, E=5)")
	require.EqualError(t, of(s{3, 5}, s{7, 5}, 4, none), "graph: LinearCrossEntropy: targets: shape (4), want (3)")
	none.Reduction = graph.NoReduction
	require.EqualError(t, of(s{3, 5}, s{7, 5}, 3, none),
		"graph: LinearCrossEntropy: reduction: got none, want mean or sum")
	const bad = ", want a finite number above 0, or 0 for none"
	for _, v := range []float64{-1, nan, math.Inf(-1)} {
		require.EqualError(t, of(s{3, 5}, s{7, 5}, 3, graph.LinearCrossEntropyConfig{Scale: v}),
			fmt.Sprintf("graph: LinearCrossEntropy: scale: got %v", v)+bad)
		require.EqualError(t, of(s{3, 5}, s{7, 5}, 3, graph.LinearCrossEntropyConfig{Softcap: v}),
			fmt.Sprintf("graph: LinearCrossEntropy: softcap: got %v", v)+bad)
	}
	require.ErrorContains(t, of(s{3, 5}, s{7, 5}, 3, graph.LinearCrossEntropyConfig{Softcap: inf}),
		"LinearCrossEntropy: softcap: got +Inf, want a size of")
	require.ErrorContains(t, of(s{3, 5}, s{7, 5}, 3, graph.LinearCrossEntropyConfig{Scale: 1e-50}),
		"LinearCrossEntropy: scale: got 1e-50, want a size of")
	_, err := graph.LinearCrossEntropy(nil, nil, nil, graph.LinearCrossEntropyConfig{})
	require.EqualError(t, err, "graph: LinearCrossEntropy: x: got nil, want a node")
}

func TestLinearCrossEntropyRefusesTargets(t *testing.T) {
	for _, c := range []struct {
		target float64
		want   string
	}{
		{target: 7, want: "targets: got 7 at 0, want 0 <= target < V=7 or -100"},
		{target: -100, want: "targets: got 1 times -100, want a target that counts"},
	} {
		in := append(inputs(zeros(1, 5), zeros(7, 5)), ids([]float64{c.target}))
		e := express(t, linearCrossEntropyBy(graph.LinearCrossEntropyConfig{WithX: true}), in, tensor.Float64)
		m, err := machine.New(e.out)
		require.NoError(t, err)
		require.ErrorContains(t, m.RunAll(), "graph: LinearCrossEntropy: "+c.want)
	}
}
