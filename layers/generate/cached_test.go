package generate_test

import (
	"context"
	"slices"
	"testing"

	"attention/layers/generate"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// Errors are reported and change nothing.
func TestErrorsChangeNothing(t *testing.T) {
	_, m := small(t, tensor.Float64, config)
	sampling := generate.Config{Capacity: 10, Temperature: 1}
	g := must(generate.New(m, sampling))
	_, err := g.Next(ctx)
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

	again := must(generate.New(m, sampling))
	require.NoError(t, again.Prompt(ctx, ids(3, 13)))
	require.Equal(t, append(first, rest...), draw(t, again, 8))
}

// Take draws the tokens of Next, at most n, and stops before a token that ends a text and after an error.
func TestTake(t *testing.T) {
	_, m := small(t, tensor.Float64, config)
	begun := func() *generate.Generator {
		g := must(generate.New(m, generate.Config{Temperature: 1, Seed: 2, Capacity: 10}))
		require.NoError(t, g.Prompt(ctx, ids(3, 13)))
		return g
	}
	take := func(n int, ends ...int) (drawn []int, last error) {
		g := begun()
		for id, err := range g.Take(ctx, n, ends...) {
			require.NoError(t, last, "nothing comes after an error")
			if last = err; err == nil {
				drawn = append(drawn, id)
			}
		}
		return drawn, last
	}
	all := draw(t, begun(), 6)
	drawn, err := take(6)
	require.NoError(t, err)
	require.Equal(t, all, drawn)
	end := slices.IndexFunc(all[1:], func(id int) bool { return id != all[0] }) + 1
	drawn, err = take(6, 99, all[end])
	require.NoError(t, err)
	require.Equal(t, all[:end], drawn)
	drawn, err = take(100)
	require.ErrorIs(t, err, generate.ErrFull)
	require.Equal(t, all, drawn[:6])
}

// countdown is a context that is done after a number of checks.
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

// A cache whose memory grows gives the tokens of a cache with all its memory from the start, for one text and for
// several.
func TestRoomGrows(t *testing.T) {
	_, m := small(t, tensor.Float64, config)
	c := generate.Config{Temperature: 1, Seed: 5, Capacity: 600}
	token := 2 * 12 * 8 * 2 // keys and values of E = 12 float64 in two layers
	cache := func(g interface{ Memory() generate.Memory }) int { return g.Memory().Cache / token }
	want := must(generate.New(m, c))
	c.Room = 9
	got := must(generate.New(m, c))
	require.NoError(t, want.Prompt(ctx, ids(9, 13)))
	require.NoError(t, got.Prompt(ctx, ids(9, 13)))
	require.Equal(t, []int{600, 9}, []int{cache(want), cache(got)})
	require.Equal(t, draw(t, want, 20), draw(t, got, 20))
	require.Equal(t, 36, cache(got))
	require.NoError(t, want.Prompt(ctx, ids(530, 13)))
	require.NoError(t, got.Prompt(ctx, ids(530, 13)))
	require.Equal(t, want.Logits(), got.Logits())
	require.Equal(t, 600, cache(got))

	several := must(generate.NewBatch(m, 2, c))
	require.NoError(t, several.Prompt(ctx, [][]int{ids(9, 13), ids(11, 13)}))
	require.Equal(t, 18, cache(several)/2)
	want.Reset()
	require.NoError(t, want.Prompt(ctx, ids(9, 13)))
	for _, id := range draw(t, want, 20) {
		require.Equal(t, id, must(several.Next(ctx))[0])
	}
	c.Room = 1000 // more than the capacity
	require.Equal(t, 600, cache(must(generate.New(m, c))))
}
