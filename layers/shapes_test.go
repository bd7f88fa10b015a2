package layers_test

import (
	"fmt"
	"math"
	"testing"

	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Sizes that make no layer, by the config's own words.
func TestWrongSizesAreRefused(t *testing.T) {
	causal := layers.CausalAttentionConfig{In: 3, Out: 4}
	heads := layers.MultiHeadAttentionConfig{In: 3, Out: 4, NumHeads: 2}
	with := func(c layers.CausalAttentionConfig, change func(*layers.CausalAttentionConfig)) layers.CausalAttentionConfig {
		change(&c)
		return c
	}
	withHeads := func(change func(*layers.MultiHeadAttentionConfig)) layers.MultiHeadAttentionConfig {
		c := heads
		change(&c)
		return c
	}
	for _, c := range []struct {
		config interface{ Validate() error }
		says   string
	}{
		{layers.LinearConfig{In: 0, Out: 1}, "Linear: In: got 0, want at least 1"},
		{layers.LinearConfig{In: 1, Out: -1}, "Linear: Out: got -1, want at least 1"},
		{layers.SelfAttentionV1Config{In: 0, Out: 1}, "SelfAttentionV1: In: got 0, want at least 1"},
		{layers.SelfAttentionV2Config{In: 1, Out: 0}, "SelfAttentionV2: Out: got 0, want at least 1"},
		{layers.CausalAttentionConfig{}, "CausalAttention: In: got 0, want at least 1"},
		{with(causal, func(c *layers.CausalAttentionConfig) { c.ContextLength = -1 }), "CausalAttention: ContextLength: got -1, want at least 0"},
		{with(causal, func(c *layers.CausalAttentionConfig) { c.Dropout = 1 }), "CausalAttention: Dropout: got 1, want 0 <= p < 1"},
		{with(causal, func(c *layers.CausalAttentionConfig) { c.Dropout = math.NaN() }), "CausalAttention: Dropout: got NaN, want 0 <= p < 1"},
		{with(causal, func(c *layers.CausalAttentionConfig) { c.ContextDropout = -0.5 }), "CausalAttention: ContextDropout: got -0.5, want 0 <= p < 1"},
		{layers.MultiHeadAttentionWrapperConfig{Head: causal}, "MultiHeadAttentionWrapper: NumHeads: got 0, want at least 1"},
		{layers.MultiHeadAttentionWrapperConfig{NumHeads: 2}, "MultiHeadAttentionWrapper: In: got 0, want at least 1"},
		{withHeads(func(c *layers.MultiHeadAttentionConfig) { c.NumHeads = 0 }), "MultiHeadAttention: NumHeads: got 0, want at least 1"},
		{withHeads(func(c *layers.MultiHeadAttentionConfig) { c.NumHeads = 3 }), "MultiHeadAttention: NumHeads: got 3, want a divisor of Out=4"},
		{withHeads(func(c *layers.MultiHeadAttentionConfig) { c.NumHeads = 8 }), "MultiHeadAttention: NumHeads: got 8, want a divisor of Out=4"},
		{withHeads(func(c *layers.MultiHeadAttentionConfig) { c.Out = 0 }), "MultiHeadAttention: Out: got 0, want at least 1"},
		{withHeads(func(c *layers.MultiHeadAttentionConfig) { c.ContextDropout = 2 }), "MultiHeadAttention: ContextDropout: got 2, want 0 <= p < 1"},
		{layers.AdditiveAttentionConfig{Query: 1, Key: 1}, "AdditiveAttention: Attn: got 0, want at least 1"},
		{layers.LanguageModelConfig{Vocab: 1, Context: 0, Width: 1}, "LanguageModel: Context: got 0, want at least 1"},
	} {
		require.EqualError(t, c.config.Validate(), "layers: "+c.says)
		require.EqualError(t, construct(c.config), "layers: "+c.says, "the constructor says the same")
	}
	require.NoError(t, causal.Validate())
	require.NoError(t, heads.Validate())
}

// construct makes the layer of a config and checks that a wrong one leaves nothing behind.
func construct(config any) (err error) {
	p := layers.NewParams(tensor.Float32, 1)
	s := p.Scope("")
	switch c := config.(type) {
	case layers.LinearConfig:
		_, err = layers.NewLinear(s, c)
	case layers.SelfAttentionV1Config:
		_, err = layers.NewSelfAttentionV1(s, c)
	case layers.SelfAttentionV2Config:
		_, err = layers.NewSelfAttentionV2(s, c)
	case layers.CausalAttentionConfig:
		_, err = layers.NewCausalAttention(s, c)
	case layers.MultiHeadAttentionWrapperConfig:
		_, err = layers.NewMultiHeadAttentionWrapper(s, c)
	case layers.MultiHeadAttentionConfig:
		_, err = layers.NewMultiHeadAttention(s, c)
	case layers.AdditiveAttentionConfig:
		_, err = layers.NewAdditiveAttention(s, c)
	case layers.LanguageModelConfig:
		_, err = layers.NewLanguageModel(s, c)
	}
	if p.Len() != 0 {
		return fmt.Errorf("%d parameters were made", p.Len())
	}
	return err
}

// selfLayers are all self-attention layers for tokens of width 3.
func selfLayers(t *testing.T, p *layers.Params) map[string]layers.SelfAttention {
	t.Helper()
	all := map[string]layers.SelfAttention{}
	for _, name := range layers.Variants() {
		c := layers.VariantConfig{Layer: name, DIn: 3, DOut: 4, NumHeads: 2, ContextLength: 5, DQuery: 3, DKey: 3, DAttn: 7}
		l, err := c.New(p.Scope(name))
		require.NoError(t, err)
		all[name] = l
	}
	return all
}

// layerNames are what errors call selfLayers. The simple one has no parameters, hence no path.
var layerNames = map[string]string{
	layers.Simple: "SimpleSelfAttention", layers.SelfV1: "self_v1: SelfAttentionV1", layers.SelfV2: "self_v2: SelfAttentionV2",
	layers.Causal: "causal: CausalAttention", layers.MultiHeadWrapper: "multi_head_wrapper.heads.0: CausalAttention",
	layers.MultiHead: "multi_head: MultiHeadAttention", layers.Additive: "additive: AdditiveAttention",
}

// What every self-attention layer refuses, in a message that names the layer.
func TestWrongInputsAreRefused(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	bare := func(b *layers.Build) *G.Node { return G.NewMatrix(b.Graph(), tensor.Float32, G.WithName("bare")) }
	of := func(dt tensor.Dtype, shape ...int) func(b *layers.Build) *G.Node {
		return func(b *layers.Build) *G.Node {
			x := b.InputOf(dt, "x", shape...)
			require.NoError(t, b.Err())
			return x
		}
	}
	foreign := func(*layers.Build) *G.Node { return of(tensor.Float32, 2, 3)(layers.NewBuild(p, layers.Eval)) }
	for name, l := range selfLayers(t, p) {
		for says, x := range map[string]func(b *layers.Build) *G.Node{
			"got nil, want a node":             func(*layers.Build) *G.Node { return nil },
			"shape (3), want ([B,] T":          of(tensor.Float32, 3),
			"shape (1, 2, 2, 3), want ([B,] T": of(tensor.Float32, 1, 2, 2, 3),
			"shape (), want ([B,] T":           bare,
			"got float64, want float32":        of(tensor.Float64, 2, 3),
			"got int, want float32":            of(tensor.Int, 2, 3),
			"a node of another graph":          foreign,
			"shape (2, 4), want ([B,] T":       of(tensor.Float32, 2, 4),
		} {
			if name == layers.Simple && says[:8] == "shape (2" || name == layers.Simple && says[:3] == "a n" {
				continue // any width will do, and no parameter ties it to a graph
			}
			b := layers.NewBuild(p, layers.Eval)
			require.NotPanics(t, func() {
				out, err := l.Forward(b, x(b))
				require.ErrorContains(t, err, says, name)
				require.Nil(t, out)
				in := "layers: " + layerNames[name] + ": "
				if says == "a node of another graph" {
					in = "layers: " + name // or a layer within, which meets the parameter
				}
				require.ErrorContains(t, err, in, name)
			}, "%s: %s", name, says)
		}
	}
}

// Shorter sequences than the context are welcome, longer ones are not.
func TestContextLength(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	for name, l := range selfLayers(t, p) {
		bounded := name == layers.Causal || name == layers.MultiHeadWrapper || name == layers.MultiHead
		for T := 1; T <= 6; T++ {
			b := layers.NewBuild(p, layers.Eval)
			out, err := l.Forward(b, input(t, b, "x", numbers(tensor.Float32, 2, T, 3)))
			if bounded && T > 5 {
				require.EqualError(t, err, fmt.Sprintf("layers: %s: x: shape (2, 6, 3), want ([B,] T <= 5, 3)", layerNames[name]))
				continue
			}
			require.NoError(t, err, "%s of %d tokens", name, T)
			values(t, out)
		}
	}
}

// A shorter sequence gives what the longer one gives at its first tokens.
func TestCausalLayersOfAPrefix(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	long := numbers(tensor.Float64, 5, 3)
	for name, l := range selfLayers(t, p) {
		if name != layers.Causal && name != layers.MultiHeadWrapper && name != layers.MultiHead {
			continue
		}
		want, _ := apply(t, p, l, long)
		width := len(want) / 5
		for T := 1; T < 5; T++ {
			got, _ := apply(t, p, l, dense(tensor.Float64, long.Data().([]float64)[:3*T], T, 3))
			require.InDeltaSlice(t, want[:width*T], got, 1e-15, "%s of %d tokens", name, T)
		}
	}
}

// Each sequence of a batch is handled as if it were alone, and weights that a query
// gives sum to one.
func TestSequencesOfABatchAreApart(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	batch := numbers(tensor.Float64, 2, 5, 3)
	for name, l := range selfLayers(t, p) {
		out, weights := apply(t, p, l, batch)
		for i := range 2 {
			one, oneWeights := apply(t, p, l, dense(tensor.Float64, batch.Data().([]float64)[15*i:15*i+15], 5, 3))
			require.InDeltaSlice(t, one, out[i*len(one):(i+1)*len(one)], 1e-15, name)
			require.InDeltaSlice(t, oneWeights, weights[i*len(oneWeights):(i+1)*len(oneWeights)], 1e-15, name)
		}
		for row := range len(weights) / 5 {
			sum := 0.0
			for _, w := range weights[5*row : 5*row+5] {
				sum += w
			}
			require.InDelta(t, 1, sum, 1e-14, "%s, row %d", name, row)
		}
	}
}

// Additive attention takes two sequences: any lengths, one batch.
func TestAdditiveAttentionOfTwoSequences(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	l, err := layers.NewAdditiveAttention(p.Scope(""), layers.AdditiveAttentionConfig{Query: 3, Key: 4, Attn: 5})
	require.NoError(t, err)
	for _, c := range []struct {
		query, key []int
		out, says  string
	}{
		{[]int{2, 3}, []int{7, 4}, "(2, 4)", ""},
		{[]int{5, 1, 3}, []int{5, 7, 4}, "(5, 1, 4)", ""},
		{[]int{2, 4}, []int{7, 4}, "", "layers: AdditiveAttention: query: shape (2, 4), want ([B,] T, 3)"},
		{[]int{2, 3}, []int{7, 3}, "", "layers: AdditiveAttention: key: shape (7, 3), want ([B,] S, 4)"},
		{[]int{2, 3}, []int{5, 7, 4}, "", "layers: AdditiveAttention: key: shape (5, 7, 4), want the batch of query's (2, 3)"},
		{[]int{5, 3}, []int{5, 7, 4}, "", "layers: AdditiveAttention: key: shape (5, 7, 4), want the batch of query's (5, 3)"},
		{[]int{5, 2, 3}, []int{5, 4}, "", "layers: AdditiveAttention: key: shape (5, 4), want the batch of query's (5, 2, 3)"},
		{[]int{3, 2, 3}, []int{5, 7, 4}, "", "layers: AdditiveAttention: key: shape (5, 7, 4), want the batch of query's (3, 2, 3)"},
	} {
		b := layers.NewBuild(p, layers.Eval)
		out, err := l.Forward(b, input(t, b, "query", numbers(tensor.Float32, c.query...)), input(t, b, "key", numbers(tensor.Float32, c.key...)))
		if c.says != "" {
			require.EqualError(t, err, c.says)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.out, fmt.Sprint(out.Shape()))
	}
	b := layers.NewBuild(p, layers.Eval)
	_, err = l.Forward(b, input(t, b, "query", numbers(tensor.Float32, 2, 3)), nil)
	require.EqualError(t, err, "layers: AdditiveAttention: key: got nil, want a node")
}
