package graph

import (
	"fmt"
	"slices"

	"attention/graph/mask"
	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// checkLogGates checks that there is a log-gate for each head and key; with a cache, for each key of the chunk.
func (a *attentionArgs) checkLogGates(s tensor.Shape) error {
	axes, keys := a.scores, a.scores.S
	if axes.Starts != nil {
		keys = axes.T
	}
	if axes.T > keys {
		return a.errorf("log_gates: got T=%d queries of S=%d keys, want at most as many: they are the last of them",
			axes.T, keys)
	}
	axes.T = keys
	want, letters := axes.RowShape(), "(…, S)"
	if n := len(want); a.Heads > 0 {
		want[n-1], want[n-2], letters = want[n-2], want[n-1], "(…, S, H)"
	}
	if !slices.Equal(s, want) {
		return &ShapeError{a.op, "log_gates", s, fmt.Sprintf("%s = %v", letters, want)}
	}
	return nil
}

// gates returns the number of log-gates of a token.
func (a *attentionArgs) gates() int {
	if a.LogGates == nil {
		return 0
	}
	return a.scores.H
}

// gateLayout returns the layout of the log-gates of some keys, whose heads are side by side or have an axis.
func gateLayout(sideBySide bool, heads, keys int) kernel.HeadLayout {
	if sideBySide {
		return kernel.HeadsInRow(heads, keys, 1)
	}
	return kernel.HeadsFirst(heads, keys, 1)
}

// forget adds sums of log-gates to the scores.
func (a *attentionArgs) forget(scores *G.Node) (*G.Node, error) {
	if a.LogGates == nil {
		return scores, nil
	}
	f := forgetting{biased{a.scores.Heads, a.ExtraKeys}, a.Heads > 0}
	return applyTyped(addForgetting[float32]{forgetting: f}, addForgetting[float64]{forgetting: f}, scores, a.LogGates)
}

// forgetting describes scores to which sums of log-gates are added.
type forgetting struct {
	biased
	SideBySide bool // whether the heads' log-gates are side by side
}

// sizes returns the kernel's view of scores, and the layout of their log-gates.
func (o forgetting) sizes(scores tensor.Shape) (*kernel.Attention, kernel.HeadLayout) {
	axes := mask.ScoresOf(scores, o.biased.Heads)
	a := &kernel.Attention{B: axes.B(), H: axes.H, T: axes.T, S: axes.S, Unbiased: o.Extra}
	return a, gateLayout(o.SideBySide, axes.H, axes.S-o.Extra)
}

// addForgetting adds to each score the sum of the log-gates between its key and its query. It is an op because no other
// op sums, in float64, a different range of keys for each pair.
type addForgetting[F kernel.Float] struct {
	sameShape
	forgetting
}

func (addForgetting[F]) spec() spec {
	return spec{name: "Forget", args: named("scores", "log_gates"), inPlace: first}
}

func (o addForgetting[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	a, at := o.sizes(in[0].Shape())
	f, y := kernel.ForgettingOf(a, dense.Floats[F](in[1]), at), dense.Floats[F](out)
	copy(y, dense.Floats[F](in[0]))
	for row := range f.Query {
		for s := range f.Rows {
			y[row*a.S+s] += F(f.At(a, row, s))
		}
	}
	return nil
}

// y[t,s] = x[t,s] + Σ gate[i], s < i ≤ t:  dx = dy, dgate[i] = Σ dy[t,s] over the t ≥ i and s < i.
func (o addForgetting[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	dgates, err := apply(sumToGates[F]{outShape: outShape{in[1].Shape()}, forgetting: o.forgetting}, dy)
	return G.Nodes{dy, dgates}, err
}

// sumToGates computes the gradient of log-gates from the gradient of the scores.
type sumToGates[F kernel.Float] struct {
	isGradient
	outShape
	forgetting
}

func (sumToGates[F]) spec() spec { return spec{name: "ForgetBackward", args: named("dscores")} }

func (o sumToGates[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	a, at := o.sizes(in[0].Shape())
	dy, d := dense.Floats[F](in[0]), a.NewForgetting()
	for row := range d.Query {
		keys := d.Key[row/a.T*d.Rows:]
		for s, v := range dy[row*a.S:][:d.Rows] {
			d.Query[row] += float64(v)
			keys[s] -= float64(v)
		}
	}
	kernel.GateGradients(a, dense.Floats[F](out), at, d)
	return nil
}

// gateSums returns the sums of log-gates that a cache keeps, head by head; nil if it keeps none.
func (c *KVCache) gateSums() []float64 {
	if c.sums == nil {
		return nil
	}
	return c.sums.Float64s()
}

// continueSums adds to a chunk's sums of log-gates the sums up to the token before it. It returns the sums for the
// cache, (B, T, H).
func continueSums(c *KVCache, a *kernel.Attention, f kernel.Forgetting, starts []int) []float64 {
	kept := make([]float64, len(f.Query))
	for i := range f.Query {
		head, t := i/a.T, i%a.T
		b, h := head/a.H, head%a.H
		if start := starts[b%len(starts)]; start > 0 {
			f.Query[i] += c.gateSums()[head*c.rows+c.slot(start-1)]
		}
		kept[(b*a.T+t)*a.H+h] = f.Query[i]
	}
	return kept
}
