package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"attention/graph"
	"attention/graph/gradcases"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Gorgonia merges nodes whose ops print alike. Every two different ops on the same
// input must be two nodes, and the same op twice must be one.
func TestDifferentOpsAreDifferentNodes(t *testing.T) {
	g := G.NewGraph()
	x := node(g, "x", normal(rand.New(rand.NewPCG(1, 2)), 2, 6, 6), tensor.Float64)
	w := node(g, "w", normal(rand.New(rand.NewPCG(3, 4)), 6, 6), tensor.Float64)
	scaled := func(c float64) func() (*G.Node, error) {
		return func() (*G.Node, error) { return graph.Scale(x, c) }
	}
	k := node(g, "key", key(5).array, tensor.Int64)
	fused := func(c graph.AttentionConfig) func() (*G.Node, error) {
		return func() (*G.Node, error) { return fusedAttention(x, x, x, c) }
	}
	kept := of([]float64{1, 0, 1, 1, 0, 1}, 6)
	keep, other := node(g, "keep", kept, tensor.Float64), node(g, "other", kept, tensor.Float64)
	bias := node(g, "bias", of([]float64{1, 2, 3, 4, 5, 6}, 6, 1), tensor.Float64)
	filled := func(m mask.Mask) func() (*G.Node, error) {
		return func() (*G.Node, error) { return fillBy(m)(x) }
	}
	masked := func(m mask.Mask) func() (*G.Node, error) { return fused(graph.AttentionConfig{Mask: m}) }
	watched := func(offset int, of func(s *graph.AttentionStats) (*G.Node, error)) func() (*G.Node, error) {
		return func() (*G.Node, error) {
			out, stats, err := fusedAttentionStats(x, x, x, graph.AttentionConfig{}, offset)
			if err != nil || of == nil {
				return out, err
			}
			return of(stats)
		}
	}
	oneHead := func(offset int) func() (*G.Node, error) {
		return func() (*G.Node, error) {
			s, err := fusedAttentionHeadStats(x, x, k, graph.AttentionConfig{Heads: 1}, offset)
			if err != nil {
				return nil, err
			}
			return s.Own, nil
		}
	}
	largest := func(height, width int) func(s *graph.AttentionStats) (*G.Node, error) {
		return func(s *graph.AttentionStats) (*G.Node, error) { return s.Largest(height, width) }
	}
	largestTo := func(s *graph.AttentionStats) (*G.Node, error) { return s.LargestTo(2, 3) }
	linear := func(c graph.LinearAttentionConfig) func() (*G.Node, error) {
		return func() (*G.Node, error) {
			c.Heads = 6
			out, _, err := graph.LinearAttention(x, x, x, c)
			return out, err
		}
	}
	ops := map[string]func() (*G.Node, error){
		"linear":            linear(graph.LinearAttentionConfig{}),
		"linear with decay": linear(graph.LinearAttentionConfig{Decay: x}), // the same inputs as with beta
		"linear with beta":  linear(graph.LinearAttentionConfig{Beta: x}),
		"watched":           watched(0, nil),
		"watched, offset 1": watched(1, nil),
		"own":               watched(0, func(s *graph.AttentionStats) (*G.Node, error) { return s.Own, nil }),
		"own, offset 1":     watched(1, func(s *graph.AttentionStats) (*G.Node, error) { return s.Own, nil }),
		"previous":          watched(0, func(s *graph.AttentionStats) (*G.Node, error) { return s.Previous, nil }),
		"distance":          watched(0, func(s *graph.AttentionStats) (*G.Node, error) { return s.Distance, nil }),
		"of one head":       oneHead(0),
		"of one, offset 1":  oneHead(1),
		"largest of 2, 3":   watched(0, largest(2, 3)),
		"largest of 3, 2":   watched(0, largest(3, 2)),
		"largest to 2, 3":   watched(0, largestTo),
		"fused window 1":    masked(mask.SlidingWindow{Left: 1}),
		"fused window 1, 1": masked(mask.SlidingWindow{Left: 1, Right: 1}),
		"fused upper left":  masked(mask.Causal{Align: mask.UpperLeft}),
		"fused offset 1":    masked(mask.Causal{Offset: 1}),
		"fused offset -1":   masked(mask.Causal{Offset: -1}),
		"fused prefix 2":    masked(mask.Prefix{N: 2}),
		"fused prefix 3":    masked(mask.Prefix{N: 3}),
		"fused ∧":           masked(mask.And(mask.Causal{}, mask.Prefix{N: 2})),
		"fused ∨":           masked(mask.Or(mask.Causal{}, mask.Prefix{N: 2})),
		"fused ¬":           masked(mask.Not(mask.Causal{})),
		"fused keep":        masked(mask.Keep{Keep: keep}),
		"fused other keep":  masked(mask.Keep{Keep: other}),
		"fused keep, other": masked(mask.And(mask.Keep{Keep: keep}, mask.Not(mask.Keep{Keep: other}))),
		"fused other, keep": masked(mask.And(mask.Keep{Keep: other}, mask.Not(mask.Keep{Keep: keep}))),
		"fused sigmoid":     fused(graph.AttentionConfig{Sigmoid: true}),
		"fused sigmoid −2":  fused(graph.AttentionConfig{Sigmoid: true, SigmoidBias: -2}),
		"fused softcap 2":   fused(graph.AttentionConfig{Softcap: 2}),
		"fused softcap 3":   fused(graph.AttentionConfig{Softcap: 3}),
		"fused 1 extra key": fused(graph.AttentionConfig{ExtraKeys: 1}),
		"fused 2 extra":     fused(graph.AttentionConfig{ExtraKeys: 2}),
		"fused bias":        fused(graph.AttentionConfig{Bias: bias}),
		"fill window 1":     filled(mask.SlidingWindow{Left: 1}),
		"fill window 2":     filled(mask.SlidingWindow{Left: 2}),
		"fill all":          filled(mask.All{}),
		"fill keep":         filled(mask.Keep{Keep: keep}),
		"fill other keep":   filled(mask.Keep{Keep: other}),
		"append zeros":      func() (*G.Node, error) { return graph.AppendRow(x, nil) },
		"append keep":       func() (*G.Node, error) { return graph.AppendRow(x, keep) },
		"detach":            func() (*G.Node, error) { return graph.Detach(x) },
		"fused":             fused(graph.AttentionConfig{}),
		"fused causal":      fused(graph.AttentionConfig{Mask: mask.Causal{}}),
		"fused scale":       fused(graph.AttentionConfig{Scale: 0.5}),
		"fused 2 heads":     fused(graph.AttentionConfig{Heads: 2}),
		"fused 3 heads":     fused(graph.AttentionConfig{Heads: 3, Scale: 1 / math.Sqrt(3)}),
		"fused p=0.5":       fused(graph.AttentionConfig{Dropout: graph.DropoutConfig{P: 0.5, Key: k}}),
		"fused p=0.5, at 1": fused(graph.AttentionConfig{Dropout: graph.DropoutConfig{P: 0.5, Key: k, Site: 1}}),
		"softmax":           func() (*G.Node, error) { return graph.Softmax(x) },
		"normalize":         func() (*G.Node, error) { return graph.DivideBySum(x) },
		"fill causal":       filled(mask.Causal{}),
		"tril":              func() (*G.Node, error) { return graph.Tril(x) },
		"exp":               func() (*G.Node, error) { return graph.Exp(x) },
		"tanh":              func() (*G.Node, error) { return graph.Tanh(x) },
		"scale 2":           scaled(2),
		"scale 2.5":         scaled(2.5),
		"scale 2+1e-9":      scaled(2 + 1e-9),
		"scale −2":          scaled(-2),
		"split 1":           func() (*G.Node, error) { return graph.SplitHeads(x, 1) },
		"split 2":           func() (*G.Node, error) { return graph.SplitHeads(x, 2) },
		"split 3":           func() (*G.Node, error) { return graph.SplitHeads(x, 3) },
		"merge":             func() (*G.Node, error) { return graph.MergeHeads(x) },
		"add":               func() (*G.Node, error) { return graph.Add(x, x) },
		"mul":               func() (*G.Node, error) { return graph.Mul(x, x) },
		"scores":            func() (*G.Node, error) { return graph.Scores(x, x) },
		"product":           func() (*G.Node, error) { return graph.MatMul(x, x) },
		"x·w":               func() (*G.Node, error) { return graph.MatMul(x, w) },
		"x·wᵀ":              func() (*G.Node, error) { return graph.Linear(x, w, nil) },
		"concat 1":          func() (*G.Node, error) { return graph.Concat(x) },
		"concat 2":          func() (*G.Node, error) { return graph.Concat(x, x) },
	}
	made := map[*G.Node]string{}
	for name, op := range ops {
		n, err := op()
		require.NoError(t, err, name)
		require.Empty(t, made[n], "%s is the same node", name)
		made[n] = name
		again, err := op()
		require.NoError(t, err, name)
		require.Same(t, n, again, "%s, made twice", name)
	}
}

// The same holds for all cases: on the same inputs, two different ops are never merged. SmoothL1 of delta 1 is Huber's
// formula.
func TestCasesAreDifferentNodes(t *testing.T) {
	g, made := G.NewGraph(), map[*G.Node]string{}
	for _, c := range gradcases.Cases() {
		var in G.Nodes
		for _, x := range c.Inputs {
			name, dt := fmt.Sprint(x.Name, x.IDs, x.Floats), tensor.Float64 // inputs with other values are different inputs
			if x.IDs != nil {
				dt = tensor.Int
			}
			in = append(in, G.NewTensor(g, dt, x.Shape.Dims(), G.WithShape(x.Shape...), G.WithName(name)))
		}
		n, err := c.Apply(in)
		require.NoError(t, err, c.Name())
		if huber := strings.Replace(c.Name(), "SmoothL1", "Huber", 1); huber == c.Name() || made[n] != huber {
			require.Empty(t, made[n], "%s is the same node", c.Name())
		}
		made[n] = c.Name()
		again, err := c.Apply(in)
		require.NoError(t, err, c.Name())
		if c.Anew {
			require.NotSame(t, n, again, "%s, made twice", c.Name())
			continue
		}
		require.Same(t, n, again, "%s, made twice", c.Name())
	}
}

// The same holds for gradients: columns of one gradient, and sums of one gradient.
func TestGradientsOfOneNodeAreTold(t *testing.T) {
	a := of([]float64{1, 2}, 1, 2)
	in := inputs(a, a, a)
	e := express(t, func(in G.Nodes) (*G.Node, error) { return graph.Concat(in...) }, in, tensor.Float64)
	e.differentiate(t, in, of([]float64{1, 2, 3, 4, 5, 6}, 1, 6), tensor.Float64)
	got := e.onTape(t)
	for i, want := range [][]float64{{1, 2}, {3, 4}, {5, 6}} {
		require.Equal(t, want, got.grads[i].v)
	}
}

// If one node is both arguments of an op, its gradient is the sum of both gradients.
func TestOneNodeAsBothArguments(t *testing.T) {
	x, dy := of([]float64{1, 2, 3, 4}, 2, 2), of([]float64{1, 10, 100, 1000}, 2, 2)
	for name, c := range map[string]struct {
		op   func(x *G.Node) (*G.Node, error)
		want []float64
	}{
		"x+x": {op: func(x *G.Node) (*G.Node, error) { return graph.Add(x, x) }, want: []float64{2, 20, 200, 2000}},
		"x⊙x": {op: func(x *G.Node) (*G.Node, error) { return graph.Mul(x, x) }, want: []float64{2, 40, 600, 8000}},
		"x·x": {op: func(x *G.Node) (*G.Node, error) { return graph.MatMul(x, x) },
			want: []float64{21 + 301, 43 + 3010, 2100 + 402, 4300 + 4020}},
		"x·xᵀ": {op: func(x *G.Node) (*G.Node, error) { return graph.Scores(x, x) },
			want: []float64{1 + 30 + 1 + 300, 2 + 40 + 2 + 400, 100 + 3000 + 10 + 3000, 200 + 4000 + 20 + 4000}},
		"[x x]": {op: func(x *G.Node) (*G.Node, error) { return twice(graph.Concat(x, x)) },
			want: []float64{2, 20, 200, 2000}},
		"x + x·1": {op: func(x *G.Node) (*G.Node, error) {
			y, err := graph.Scale(x, 1)
			require.NoError(t, err)
			return graph.Add(x, y)
		}, want: []float64{2, 20, 200, 2000}},
		"x⊙detach(x)": {op: timesDetached, want: []float64{1, 20, 300, 4000}},
	} {
		t.Run(name, func(t *testing.T) {
			_, dx := through(t, c.op, x, dy, tensor.Float64)
			require.Equal(t, c.want, dx.v)
		})
	}
}

// twice adds the two halves of [x x], so that each x gets the whole gradient.
func twice(x *G.Node, err error) (*G.Node, error) {
	if err != nil {
		return nil, err
	}
	halves, err := graph.SplitHeads(x, 2) // axes (2, 2, 2): head, row, column
	if err != nil {
		return nil, err
	}
	return G.Sum(halves, 0)
}

// Gorgonia merges nodes whose ops print alike, so every setting must be printed.
func TestDifferentSettingsAreDifferentNodes(t *testing.T) {
	g := G.NewGraph()
	x, w := node(g, "x", normal(random(1), 6, 6), tensor.Float64), node(g, "w", normal(random(2), 6), tensor.Float64)
	ops := map[string]func() (*G.Node, error){}
	for _, name := range []string{"LayerNorm", "RMSNorm", "L2Norm"} {
		for _, eps := range []float64{1e-5, 1e-5 + 1e-12} {
			ops[fmt.Sprint(name, eps)] = func() (*G.Node, error) { return normBy(name, eps)(x, w) }
		}
	}
	targets := node(g, "targets", zeros(6), tensor.Int)
	lossOf := func(scale, softcap float64) func(x *G.Node) (*G.Node, error) {
		return func(x *G.Node) (*G.Node, error) {
			return graph.LinearCrossEntropy(x, x, targets, graph.LinearCrossEntropyConfig{Scale: scale, Softcap: softcap})
		}
	}
	ops["LayerNorm, bias"] = func() (*G.Node, error) { return graph.LayerNorm(x, w, w, 1e-5) }
	for name, op := range map[string]func(x *G.Node) (*G.Node, error){
		"GELU": graph.GELU, "GELUTanh": graph.GELUTanh, "ReLU": graph.ReLU, "ReLUSquared": graph.ReLUSquared,
		"SiLU": graph.SiLU, "Sigmoid": graph.Sigmoid, "LogSigmoid": graph.LogSigmoid,
		"Softcap 30": softcapBy(30), "Softcap 50": softcapBy(50), "Transpose": graph.Transpose,
		"Rows 0, 1": rowsBy(0, 1), "Rows 1, 1": rowsBy(1, 1), "Rows 0, 2": rowsBy(0, 2), "Rows 0, 6": rowsBy(0, 6),
		"Split 1": func(x *G.Node) (*G.Node, error) { return firstOf(graph.Split(x, 1, 5)) },
		"Split 2": func(x *G.Node) (*G.Node, error) { return firstOf(graph.Split(x, 2, 4)) },
		"Split 6": func(x *G.Node) (*G.Node, error) { return firstOf(graph.Split(x, 6)) },
		"SwiGLU":  byItself(graph.SwiGLU), "GeGLU": byItself(graph.GeGLU), "GeGLUTanh": byItself(graph.GeGLUTanh),
		"LinearCrossEntropy": lossOf(0, 0), "scaled": lossOf(2, 0), "scaled more": lossOf(3, 0), "capped": lossOf(0, 2),
		"capped more": lossOf(0, 3), "scaled, capped": lossOf(2, 2),
	} {
		ops[name] = func() (*G.Node, error) { return op(x) }
	}
	seen := map[*G.Node]string{}
	for name, op := range ops {
		n, err := op()
		require.NoError(t, err, name)
		require.Empty(t, seen[n], "%s is the same node", name)
		seen[n] = name
		again, err := op()
		require.NoError(t, err, name)
		require.Same(t, n, again, name)
	}
}

func byItself(op func(x, y *G.Node) (*G.Node, error)) func(x *G.Node) (*G.Node, error) {
	return func(x *G.Node) (*G.Node, error) { return op(x, x) }
}

func firstOf(parts G.Nodes, err error) (*G.Node, error) {
	if err != nil {
		return nil, err
	}
	return parts[0], nil
}
