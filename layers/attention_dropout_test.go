package layers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"attention/internal/golden"
	"attention/layers"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// dropping are layers with dropout of the weights, of the context vectors or both.
func dropping(t *testing.T, p *layers.Params, weights, context float64) map[string]chapter.Layer {
	t.Helper()
	all := map[string]chapter.Layer{}
	for _, c := range []struct {
		name   string
		config layers.AttentionConfig
	}{
		{name: "causal", config: chapter.Causal(3, 4)},
		{name: "wrapper", config: chapter.MultiHeadWrapper(3, 4, 2)},
		{name: "mha", config: chapter.MultiHead(3, 4, 2)},
	} {
		c.config.Dropout, c.config.ContextDropout = weights, context
		all[c.name] = must(newSelf(p.Scope(c.name), c.config))
	}
	identity := golden.Dense(tensor.Float64, []float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, 4, 4)
	require.NoError(t, p.Set("mha.out_proj.weight", identity))
	require.NoError(t, p.Set("mha.out_proj.bias", golden.Dense(tensor.Float64, make([]float64, 4), 4)))
	return all
}

// train runs a layer in a Train graph with a key, by Forward alone and observed.
func train(t *testing.T, p *layers.Params, l chapter.Layer, x *tensor.Dense, key int64,
) (fused, out, weights []float64) {
	t.Helper()
	run := func(withWeights bool) [][]float64 {
		b := layers.NewBuild(p, layers.Train)
		o, w, err := must(self(l, nil))(b, withWeights, input(t, b, "x", x))
		require.NoError(t, err)
		require.NoError(t, G.Let(b.DropoutKey(), G.NewI64(key)))
		if withWeights {
			return values(t, o, w)
		}
		return values(t, o)
	}
	both := run(true)
	return run(false)[0], both[0], both[1]
}

// droppedFrom wants every element to be 0 or scaled from what it was, and some of
// both; where it was 0 it stays so.
func droppedFrom(t *testing.T, before, after []float64, scale float64, what string) {
	t.Helper()
	zeros, kept := 0, 0
	for i, v := range after {
		switch {
		case before[i] == 0:
			require.Zero(t, v)
		case v == 0:
			zeros++
		default:
			require.InEpsilon(t, before[i]*scale, v, 1e-12, what)
			kept++
		}
	}
	require.NotZero(t, zeros, what)
	require.NotZero(t, kept, what)
}

func TestDropoutOfTheWeights(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	x := golden.Numbers(tensor.Float64, 2, 7, 3)
	for name, l := range dropping(t, p, 0.5, 0) {
		out, weights := apply(t, p, l, x)
		fused, trained, dropped := train(t, p, l, x, 42)
		droppedFrom(t, weights, dropped, 2, name)
		require.NotEqual(t, out, trained, name)
		require.InDeltaSlice(t, trained, fused, 1e-14, "%s: Forward drops the same weights", name)
	}
}

func TestDropoutOfTheContextVectors(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	x := golden.Numbers(tensor.Float64, 2, 7, 3)
	for name, l := range dropping(t, p, 0, 0.25) {
		out, weights := apply(t, p, l, x)
		fused, trained, same := train(t, p, l, x, 42)
		require.Equal(t, weights, same, name)
		droppedFrom(t, out, trained, 1/0.75, name)
		require.InDeltaSlice(t, trained, fused, 1e-14, name)
	}
}

// Both at once: what the context vectors would be of the dropped weights, dropped.
func TestDropoutAtBothPlaces(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	x := golden.Numbers(tensor.Float64, 2, 7, 3)
	both := dropping(t, p, 0.5, 0.25)
	for name, l := range both {
		b := layers.NewBuild(p, layers.Train)
		_, _, err := observed(b, l, input(t, b, "x", x))
		require.NoError(t, err)
		require.Equal(t, 3, b.Drop(0.5).Site, "%s: both have a site of their own", name)
		fused, trained, _ := train(t, p, l, x, 42)
		require.InDeltaSlice(t, trained, fused, 1e-14, name)
		zeros := 0
		for _, v := range trained {
			if v == 0 {
				zeros++
			}
		}
		require.NotZero(t, zeros, name)
	}
}

// The key is all the randomness there is: the same key gives the same values in
// another graph, another key others.
func TestDropoutIsReproducibleByKey(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	x := golden.Numbers(tensor.Float64, 2, 7, 3)
	for name, l := range dropping(t, p, 0.5, 0.25) {
		_, first, _ := train(t, p, l, x, 1)
		_, again, _ := train(t, p, l, x, 1)
		_, other, _ := train(t, p, l, x, 2)
		require.Equal(t, first, again, name)
		require.NotEqual(t, first, other, name)
	}
}

// The heads of a wrapper, and of a multi-head layer, drop different weights.
func TestHeadsDropApart(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	const T = 7
	for name, l := range dropping(t, p, 0.5, 0) {
		if name == "causal" {
			continue
		}
		_, _, weights := train(t, p, l, golden.Numbers(tensor.Float64, T, 3), 42)
		masks := map[string]bool{}
		for h := range 2 {
			mask := ""
			for _, w := range weights[h*T*T : (h+1)*T*T] {
				mask += fmt.Sprint(w != 0)
			}
			masks[mask] = true
		}
		require.Len(t, masks, 2, name)
	}
}

// An Eval graph, or a Train graph without probability, has no dropout and no key.
func TestEvalGraphsHaveNoDropout(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	for _, c := range []struct {
		mode  layers.Mode
		p     float64
		drops bool
	}{
		{mode: layers.Eval, p: 0.5, drops: false},
		{mode: layers.Train, p: 0, drops: false},
		{mode: layers.Train, p: 0.5, drops: true},
	} {
		q := layers.NewParams(tensor.Float64, 1)
		for name, l := range dropping(t, q, c.p, c.p) {
			b := layers.NewBuild(q, c.mode)
			_, _, err := observed(b, l, input(t, b, "x", golden.Numbers(tensor.Float64, 2, 7, 3)))
			require.NoError(t, err)
			found := 0
			for _, n := range b.Graph().AllNodes() {
				if n.Op() != nil && strings.HasPrefix(n.Op().String(), "Dropout") {
					found++
				}
			}
			require.Equal(t, c.drops, found > 0, "%s: %d dropouts in a %v graph with p=%v", name, found, c.mode, c.p)
			require.Equal(t, c.drops, b.DropoutKey() != nil)
			b = layers.NewBuild(q, c.mode)
			must(l.Forward(b, input(t, b, "x", golden.Numbers(tensor.Float64, 2, 7, 3))))
			require.Equal(t, c.drops, b.DropoutKey() != nil, "%s, fused", name)
		}
	}
	require.Zero(t, layers.NewBuild(p, layers.Eval).Drop(0.5))
	require.Zero(t, layers.NewBuild(p, layers.Train).Drop(0))
}

// An Eval graph has no dropout; a Train graph has one for each probability, and both
// forms drop the same.
func TestDropoutsOfAttention(t *testing.T) {
	for _, c := range []struct {
		weights, context, out float64
		want                  int
	}{
		{want: 0},
		{weights: 0.5, want: 1},
		{context: 0.5, want: 1},
		{out: 0.5, want: 1},
		{weights: 0.5, context: 0.25, out: 0.125, want: 3},
	} {
		p, l := newAttention(t, tensor.Float64, but(plainAttention, func(config *layers.AttentionConfig) {
			config.Dropout, config.ContextDropout, config.OutDropout = c.weights, c.context, c.out
		}))
		x := golden.Numbers(tensor.Float64, 2, 7, 5)
		for _, mode := range []layers.Mode{layers.Eval, layers.Train} {
			b := layers.NewBuild(p, mode)
			in := selfCall(t, x)(b)
			out, weights, err := attendObserved(b, l, in)
			require.NoError(t, err)
			dropouts := 0
			for _, n := range b.Graph().AllNodes() {
				if n.Op() != nil && strings.HasPrefix(n.Op().String(), "Dropout") {
					dropouts++
				}
			}
			if mode == layers.Eval {
				require.Zero(t, dropouts)
				require.Nil(t, b.DropoutKey())
				continue
			}
			require.Equal(t, c.want, dropouts)
			if c.want == 0 {
				continue
			}
			require.NoError(t, G.Let(b.DropoutKey(), G.NewI64(42)))
			composed := values(t, out, weights)
			require.Equal(t, c.weights > 0, slices.Contains(composed[1], 0))
			require.Equal(t, c.out > 0, slices.Contains(composed[0], 0))
			b = layers.NewBuild(p, mode)
			out = must(l.Attend(b, selfCall(t, x)(b)))
			require.NoError(t, G.Let(b.DropoutKey(), G.NewI64(42)))
			require.InDeltaSlice(t, composed[0], values(t, out)[0], 1e-14)
		}
	}
}
