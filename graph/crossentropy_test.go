package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// crossEntropyBy takes logits, targets and, if there is a third, the weight.
func crossEntropyBy(c graph.CrossEntropyConfig) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) {
		if len(in) > 2 {
			c.Weight = in[2]
		}
		return graph.CrossEntropy(in[0], in[1], c)
	}
}

func crossEntropyCases() []opCase {
	targets := ids([]float64{6, 0, -100, 1, -100, 1}, 2, 3)
	weight := input{array: of([]float64{1, 2, 0.5, 3, 0, 0.25, 1.5}), fixed: true}
	var cases []opCase
	for _, c := range []struct {
		name   string
		config graph.CrossEntropyConfig
	}{
		{name: "", config: graph.CrossEntropyConfig{}},
		{name: "_smooth", config: graph.CrossEntropyConfig{LabelSmoothing: 0.1}},
		{name: "_spread", config: graph.CrossEntropyConfig{LabelSmoothing: 1}},
		{name: "_ignore", config: graph.CrossEntropyConfig{Ignore: []int{0}}},
	} {
		for _, r := range []graph.Reduction{graph.MeanReduction, graph.SumReduction, graph.NoReduction} {
			c.config.Reduction = r
			config, name := c.config, "cross_entropy"+c.name
			if r != graph.MeanReduction {
				name += "_" + r.String()
			}
			want := func(in []array) array {
				weight := slices.Repeat([]float64{1}, 7)
				if len(in) > 2 {
					weight = in[2].v
				}
				return naiveCrossEntropy(in[0], in[1], weight, config)
			}
			in := then(shapes(s{2, 3, 7}), targets)
			cases = append(cases,
				opCase{name: name, op: crossEntropyBy(config), want: want, in: in},
				opCase{name: name + "_weighted", op: crossEntropyBy(config), want: want, in: then(in, weight)})
		}
	}
	return append(cases, opCase{name: "cross_entropy_one", op: crossEntropyBy(graph.CrossEntropyConfig{}),
		in: then(shapes(s{7}), key(2)),
		want: func(in []array) array {
			return naiveCrossEntropy(in[0], in[1], slices.Repeat([]float64{1}, 7), graph.CrossEntropyConfig{})
		}})
}

func naiveCrossEntropy(logits, targets array, weight []float64, c graph.CrossEntropyConfig) array {
	p := naiveSoftmax(logits).rows()
	losses, count := targets.like(), 0.0
	for i, target := range targets.v {
		if target == -100 || slices.Contains(c.Ignore, int(target)) {
			continue
		}
		count += weight[int(target)]
		losses.v[i] = -(1 - c.LabelSmoothing) * weight[int(target)] * math.Log(p.at(i, int(target)))
		for class, w := range weight {
			losses.v[i] -= c.LabelSmoothing / float64(len(weight)) * w * math.Log(p.at(i, class))
		}
	}
	switch c.Reduction {
	case graph.MeanReduction:
		return array{nil, []float64{sumOf(losses.v) / count}}
	case graph.SumReduction:
		return array{nil, []float64{sumOf(losses.v)}}
	}
	return losses
}

// A logit of −∞ means a token that cannot occur; if it is the target's logit, the loss is infinite.
func TestCrossEntropyOfExtremeLogits(t *testing.T) {
	for _, c := range []struct {
		name      string
		logits    []float64
		target    float64
		smoothing float64
		want      float64
	}{
		{name: "huge and right", logits: []float64{1e30, -1e30, 0}, target: 0, want: 0},
		{name: "huge and wrong", logits: []float64{1e4, 0, 0}, target: 1, want: 1e4},
		{name: "impossible others", logits: []float64{-inf, 3, -inf}, target: 1, want: 0},
		{name: "impossible target", logits: []float64{-inf, 3, 3}, target: 0, want: inf},
		{name: "impossible others, smoothed", logits: []float64{-inf, 3, 3}, target: 1, smoothing: 0.1, want: inf},
		{name: "NaN", logits: []float64{0, nan, 0}, target: 0, want: nan},
	} {
		for _, p := range tolerances {
			t.Run(c.name+"/"+p.dt.String(), func(t *testing.T) {
				in := append(inputs(of(c.logits, 1, 3)), ids([]float64{c.target}))
				got := express(t, crossEntropyBy(graph.CrossEntropyConfig{LabelSmoothing: c.smoothing}), in, p.dt).onOurs(t)
				near(t, "loss", array{[]int{}, []float64{c.want}}, got.out, p.tol)
			})
		}
	}
}

// The loss of a model that is nearly certain, and right, is as precise as any other loss.
func TestCrossEntropyOfSureModels(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, margin := range []float64{3, 6, 10, 15, 30} {
		const rows, cols = 64, 65
		logits, targets, want := normal(r, rows, cols), zeros(rows), 0.0
		for i := range rows {
			at := i * 7 % cols
			targets.v[i] = float64(at)
			logits.v[i*cols+at] += margin
		}
		for i, v := range logits.v {
			logits.v[i] = float64(float32(v))
		}
		for i := range rows {
			sum, at := 0.0, int(targets.v[i])
			for j := range cols {
				if j != at {
					sum += math.Exp(logits.at(i, j) - logits.at(i, at))
				}
			}
			want += math.Log1p(sum) / rows
		}
		in := append(inputs(logits), input{array: targets, integer: true})
		for _, p := range tolerances {
			got := express(t, crossEntropyBy(graph.CrossEntropyConfig{}), in, p.dt).onOurs(t).out.v[0]
			require.InEpsilon(t, want, got, 5e-7, "margin %v", margin)
		}
	}
}

// The losses of 1.5 and 31 million logits in float32 agree with float64's to 1e-6.
func TestCrossEntropyOfManyLogits(t *testing.T) {
	sizes := []int{1_500_000, 31_000_000}
	if testing.Short() || !testenv.All { // TestLossesOfManyElements sums equally many
		sizes = sizes[:1]
	}
	for _, n := range sizes {
		const cols = 100
		rows := n / cols
		x, targets, want := make([]float32, n), make([]int, rows), 0.0
		for i := range x {
			x[i] = float32(5 * math.Sin(float64(i)))
		}
		for i := range rows {
			targets[i] = i % cols
			sum := 0.0
			for _, v := range x[i*cols:][:cols] {
				sum += math.Exp(float64(v))
			}
			want += (math.Log(sum) - float64(x[i*cols+targets[i]])) / float64(rows)
		}
		g := G.NewGraph()
		loss, err := graph.CrossEntropy(
			G.NewMatrix(g, tensor.Float32, G.WithShape(rows, cols), G.WithName("x"),
				G.WithValue(tensor.New(tensor.WithShape(rows, cols), tensor.WithBacking(x)))),
			G.NewVector(g, tensor.Int, G.WithShape(rows), G.WithName("targets"),
				G.WithValue(tensor.New(tensor.WithShape(rows), tensor.WithBacking(targets)))), graph.CrossEntropyConfig{})
		require.NoError(t, err)
		require.InEpsilon(t, want, onBoth(t, loss).v[0], 1e-6)
	}
}

func TestWrongCrossEntropiesAreRefused(t *testing.T) {
	b := bench{G.NewGraph()}
	by := func(c graph.CrossEntropyConfig) func() (*G.Node, error) {
		return func() (*G.Node, error) { return graph.CrossEntropy(b.f(2, 3), b.ids(2), c) }
	}
	list := []refusal{
		{call: by(graph.CrossEntropyConfig{Weight: b.f(2)}), want: "CrossEntropy: weight: shape (2), want (V=3)"},
		{call: by(graph.CrossEntropyConfig{Reduction: 3}),
			want: "CrossEntropy: reduction: got batchmean, want one of [mean sum none]"},
	}
	for _, smoothing := range []float64{-0.1, 1.1, nan} {
		list = append(list, refusal{call: by(graph.CrossEntropyConfig{LabelSmoothing: smoothing}),
			want: fmt.Sprintf("CrossEntropy: label_smoothing: got %v, want 0 to 1", smoothing)})
	}
	refuseAll(t, list)
}

// Errors that only a run can find; the sum over no rows is 0.
func TestCrossEntropyOfNothing(t *testing.T) {
	zero := input{array: of([]float64{0, 0, 1}), fixed: true}
	for _, c := range []struct {
		config  graph.CrossEntropyConfig
		targets []float64
		weight  []input
		want    string
	}{
		{targets: []float64{-100, -100}, want: "targets: got 2 times -100, want a target that counts"},
		{targets: []float64{1, -100}, config: graph.CrossEntropyConfig{Ignore: []int{1}},
			want: "targets: got 2 times one of [-100 1], want a target that counts"},
		{targets: []float64{0, 1}, weight: []input{zero}, want: "weight: got 0 in sum for 2 targets, want another sum"},
		{targets: []float64{3, 1}, config: graph.CrossEntropyConfig{Reduction: graph.SumReduction},
			want: "targets: got 3 at 0, want 0 <= target < V=3 or -100"},
		{targets: []float64{-100, -100}, config: graph.CrossEntropyConfig{Reduction: graph.SumReduction}},
	} {
		in := append(append(inputs(zeros(2, 3)), ids(c.targets)), c.weight...)
		e := express(t, crossEntropyBy(c.config), in, tensor.Float64)
		m, err := machine.New(e.out)
		require.NoError(t, err)
		if err = m.RunAll(); c.want == "" {
			require.NoError(t, err)
			require.Zero(t, arrayOf(t, e.out.Value()).v[0])
		} else {
			require.EqualError(t, err, "machine: graph: CrossEntropy: "+c.want)
		}
	}
}
