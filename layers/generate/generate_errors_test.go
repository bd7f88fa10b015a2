package generate_test

import (
	"context"
	"math"
	"testing"

	"attention/layers"
	"attention/layers/generate"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// What goes wrong is said, and changes nothing.
func TestErrorsChangeNothing(t *testing.T) {
	_, m := small(t, tensor.Float64, config)
	sampling := generate.Config{Capacity: 10, Temperature: 1}
	g, err := generate.New(m, sampling)
	require.NoError(t, err)
	_, err = g.Next(ctx)
	require.EqualError(t, err, "generate: got no prompt, want at least one token")
	require.NoError(t, g.Prompt(ctx, ids(3, 13)))
	first := draw(t, g, 2)

	stopped, stop := context.WithCancel(ctx)
	stop()
	_, err = g.Next(stopped)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, g.Prompt(stopped, []int{1}), context.Canceled)
	half := &countdown{Context: ctx, left: 30} // between the layers
	_, err = g.Next(half)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, g.Prompt(&countdown{Context: ctx, left: 30}, ids(3, 13)), context.DeadlineExceeded)
	require.EqualError(t, g.Prompt(ctx, nil), "generate: prompt: got no token, want at least one")
	require.EqualError(t, g.Prompt(ctx, []int{0, 13}), "generate: prompt: got id 13 at position 1, want 0 to 12")
	require.EqualError(t, g.Prompt(ctx, []int{-1}), "generate: prompt: got id -1 at position 0, want 0 to 12")
	err = g.Prompt(ctx, ids(6, 13))
	require.ErrorIs(t, err, generate.ErrFull)
	require.EqualError(t, err, "generate: the context is full: got 11 tokens, want at most 10")

	rest := draw(t, g, 6)
	_, err = g.Next(ctx)
	require.EqualError(t, err, "generate: the context is full: got 11 tokens, want at most 10")

	again, err := generate.New(m, sampling)
	require.NoError(t, err)
	require.NoError(t, again.Prompt(ctx, ids(3, 13)))
	require.Equal(t, append(first, rest...), draw(t, again, 8))
}

// countdown is a context that is done after some looks at it.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// echo is a model whose logits are the ids.
type echo struct{ params *layers.Params }

func (e echo) Params() *layers.Params                                { return e.params }
func (e echo) Forward(_ *layers.Build, ids *G.Node) (*G.Node, error) { return ids, nil }

func TestNewRefuses(t *testing.T) {
	p, m := small(t, tensor.Float32, config)
	_, err := generate.New(m, generate.Config{Capacity: 602})
	require.EqualError(t, err, "generate: Capacity: got 602, want 0 to ContextLength=601")
	_, err = generate.New(m, generate.Config{VocabSize: 14})
	require.EqualError(t, err, "generate: VocabSize: got 14, want 0 to the model's 13")
	_, err = generate.New(nil, generate.Config{})
	require.EqualError(t, err, "generate: model: got nil, want a GPT")
	_, err = generate.NewWithoutCache(m, 7, generate.Config{Capacity: 3})
	require.EqualError(t, err, "generate: Capacity: got 3, want 0 without a cache")
	_, err = generate.NewWithoutCache(m, 602, generate.Config{})
	require.ErrorContains(t, err, "generate: layers: GPT: ids: shape (602)")
	_, err = generate.NewWithoutCache(m, 0, generate.Config{})
	require.ErrorContains(t, err, `generate: layers: input "ids": shape (0), want every axis at least 1`)
	_, err = generate.NewWithoutCache(echo{p}, 7, generate.Config{})
	require.EqualError(t, err, "generate: forward: logits: shape (7), want (T=7, V)")
}

// Weights that are not finite are found in the scores.
func TestScoresThatAreNoNumbers(t *testing.T) {
	p, m := small(t, tensor.Float32, config)
	bias, ok := p.Get("transformer.ln_f.bias")
	require.True(t, ok)
	bias.Float32s()[0] = float32(math.NaN())
	g, err := generate.New(m, generate.Config{})
	require.NoError(t, err)
	require.NoError(t, g.Prompt(ctx, []int{1}))
	_, err = g.Next(ctx)
	require.EqualError(t, err, "generate: logits: got NaN for id 0, want numbers: are the weights finite?")
}
