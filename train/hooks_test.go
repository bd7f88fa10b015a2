package train_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"attention/graph"
	"attention/internal/small"
	"attention/layers"
	"attention/train"
	"attention/train/parallel"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// hooked is a training graph of an attention that is to copy its input.
type hooked struct {
	params *layers.Params
	build  *layers.Build
	loss   *G.Node
}

func newHooked(t *testing.T) hooked {
	t.Helper()
	p := layers.NewParams(tensor.Float64, 1)
	c := layers.AttentionConfig{EmbedDim: 5, NumHeads: 3, HeadDim: 4, Scale: 20, Layout: layers.GPT2}
	l, err := layers.NewAttention(p.Scope("attn"), c)
	require.NoError(t, err)
	b := layers.NewBuild(p, layers.Train)
	b.Observe("*")
	x := b.Input("x", 2, 7, 5)
	return hooked{p, b, b.Of(graph.MSE(b.Of(l.Forward(b, x)), x, graph.LossConfig{}))}
}

// tokens returns values of the input by a number.
func tokens(n uint64) train.Values {
	r := rand.New(rand.NewPCG(1, 2+n))
	v := make([]float64, 70)
	for i := range v {
		v[i] = r.NormFloat64()
	}
	return train.Values{"x": tensor.New(tensor.WithShape(2, 7, 5), tensor.WithBacking(v))}
}

// step takes one step, which moves nothing.
func (h hooked) step(t *testing.T) error {
	t.Helper()
	s, err := train.NewStep(h.build, h.loss, train.StepConfig{Schedule: train.ConstantRate(0)})
	require.NoError(t, err)
	_, err = s.Run(tokens(0))
	return err
}

// Steps clip by the products before their update, and go on as ever otherwise: without a
// head above the threshold no bit changes.
func TestStepsClipQK(t *testing.T) {
	clipped := func(threshold float64) (hooked, *layers.QKClip) {
		h := newHooked(t)
		clip, err := layers.NewQKClip(h.build, "*", threshold)
		require.NoError(t, err)
		require.Empty(t, clip.Last())
		require.NoError(t, h.step(t))
		return h, clip
	}
	plain := newHooked(t)
	require.NoError(t, plain.step(t))
	same, free := clipped(1e9)
	for name, v := range plain.params.All() {
		w, _ := same.params.Get(name)
		require.Equal(t, v.Float64s(), w.Float64s(), name)
	}
	var largest []float64
	for _, h := range free.Last() {
		require.Equal(t, 1.0, h.Gamma)
		largest = append(largest, h.Largest)
	}
	threshold := slices.Max(largest) / 2
	moved, clip := clipped(threshold)
	require.Len(t, clip.Last(), 3)
	for i, got := range clip.Last() {
		gamma := math.Min(1, threshold/largest[i])
		require.Equal(t, layers.ClippedHead{Path: "attn", Head: i, Largest: largest[i], Gamma: gamma}, got)
	}
	again, err := layers.NewQKClip(moved.build, "*", threshold)
	require.NoError(t, err)
	require.NoError(t, moved.step(t))
	for _, h := range again.Last() {
		require.LessOrEqual(t, h.Largest, threshold*(1+1e-12))
	}
	_, err = layers.NewQKClip(moved.build, "h.*", 1)
	require.EqualError(t, err, `layers: clip: got the pattern "h.*", want one that matches an attention called so far`)
}

// Processes clip by the products of all of them: the bits are those of one.
func TestGroupsClipQK(t *testing.T) {
	const n = 8
	clipped := func(g train.Group, threshold float64) (map[string][]float64, []layers.ClippedHead, error) {
		p := layers.NewParams(tensor.Float64, 1)
		a, err := layers.NewAttention(p.Scope("attn"), layers.AttentionConfig{EmbedDim: 5, NumHeads: 3, HeadDim: 4,
			Scale: 20})
		if err != nil {
			return nil, nil, err
		}
		var clip *layers.QKClip
		loss := func(b *layers.Build) (*G.Node, error) {
			x := b.Input("x", 2, 7, 5)
			cost := b.Of(graph.MSE(b.Of(a.Forward(b, x)), x, graph.LossConfig{}))
			var err error
			clip, err = layers.NewQKClip(b, "*", threshold)
			return cost, err
		}
		c := small.Config()
		c.Group, c.Accumulate, c.Steps = g, n, 3
		l, err := train.New(p, loss, c)
		if err != nil {
			return nil, nil, err
		}
		s := &small.List{}
		for i := range uint64(3 * n) {
			s.List = append(s.List, train.Batch{Inputs: tokens(i), Tokens: 1})
		}
		err = l.Run(context.Background(), s, nil)
		return small.Values(t, p), clip.Last(), err
	}
	_, free, err := clipped(nil, 1e9)
	require.NoError(t, err)
	threshold := free[0].Largest * 0.7
	want, heads, err := clipped(nil, threshold)
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(heads, func(h layers.ClippedHead) bool { return h.Gamma < 1 }))
	for _, size := range []int{2, 3, 4} {
		small.RequireNone(t, small.Together(t, size, func(g *parallel.Group) error {
			got, clip, err := clipped(g, threshold)
			require.Equal(t, want, got, "rank %d of %d", g.Rank(), size)
			require.Equal(t, heads, clip)
			return err
		}))
	}
}

// A hook of batches alone would set the processes apart.
func TestGroupRefusesHooks(t *testing.T) {
	errs := small.Together(t, 2, func(g *parallel.Group) error {
		c := small.Config()
		c.Group, c.Accumulate = g, 2
		m := small.New(t, tensor.Float64, 7, 0)
		_, err := train.New(m.Params, func(b *layers.Build) (*G.Node, error) {
			b.OnStep(layers.StepHook{Step: func() error { return nil }}) // the same in all
			b.OnStep(layers.StepHook{Batch: func([]*tensor.Dense) error { return nil }})
			return m.Loss(b)
		}, c)
		return err
	})
	for _, err := range errs {
		require.EqualError(t, err, "train: group: got 2 processes and a hook of batches without Largest, "+
			"want one process: each has its own batches")
	}
}

// A hook gets the values of every batch before the update and is called after it; its errors
// end the step.
func TestStepHooks(t *testing.T) {
	h := newHooked(t)
	var seen []string
	stats, err := h.build.Calls("attn")[0].Stats()
	require.NoError(t, err)
	var failBatch, failStep error
	h.build.OnStep(layers.StepHook{
		Nodes: G.Nodes{stats.Entropy},
		Batch: func(values []*tensor.Dense) error {
			require.Equal(t, tensor.Shape{2, 3, 7}, values[0].Shape())
			seen = append(seen, "batch")
			return failBatch
		},
		Step: func() error {
			seen = append(seen, "step")
			return failStep
		},
	})
	h.build.OnStep(layers.StepHook{}) // asks for nothing
	require.NoError(t, h.step(t))
	require.Equal(t, []string{"batch", "step"}, seen)
	failStep = errors.New("no more")
	require.EqualError(t, h.step(t), "train: step 1: hook: no more")
	failBatch = errors.New("not this")
	require.EqualError(t, h.step(t), "train: step 1: hook: not this")
	require.Equal(t, []string{"batch", "step", "batch", "step", "batch"}, seen)

	x := layers.NewBuild(layers.NewParams(tensor.Float64, 1), layers.Train)
	x.OnStep(layers.StepHook{Nodes: G.Nodes{stats.Entropy}})
	require.EqualError(t, x.Err(), "layers: build: hook: got a node of another graph or nil, want those of the build's")
}
