package chapter_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"attention/internal/golden"
	"attention/internal/refusal"
	"attention/layers"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Each name makes a layer with the width that Width returns and the chapter's parameters.
func TestEachVariantMakesItsLayer(t *testing.T) {
	projections := []string{"W_query.weight", "W_key.weight", "W_value.weight"}
	biased := []string{"W_query.weight", "W_query.bias", "W_key.weight", "W_key.bias", "W_value.weight", "W_value.bias"}
	for _, c := range []struct {
		config chapter.Config
		layer  string
		names  []string
		width  int
		causal bool
	}{
		{chapter.Config{Layer: "simple", EmbedDim: 3}, "chapter.SimpleSelfAttention", nil, 3, false},
		{chapter.Config{Layer: "self_v1", EmbedDim: 3, OutDim: 2}, "chapter.selfAttention",
			[]string{"W_query", "W_key", "W_value"}, 2, false},
		{chapter.Config{Layer: "self_v2", EmbedDim: 3, OutDim: 2, QKVBias: true}, "chapter.selfAttention", biased, 2, false},
		{chapter.Config{Layer: "causal", EmbedDim: 3, OutDim: 2, ContextLength: 4}, "chapter.selfAttention", projections, 2,
			true},
		{chapter.Config{Layer: "multi_head_wrapper", EmbedDim: 3, OutDim: 2, NumHeads: 1}, "chapter.selfAttention",
			[]string{"heads.0.W_query.weight", "heads.0.W_key.weight", "heads.0.W_value.weight"}, 2, true},
		{chapter.Config{Layer: "multi_head", EmbedDim: 3, OutDim: 4, NumHeads: 2}, "chapter.selfAttention",
			append(projections[:3:3], "out_proj.weight", "out_proj.bias"), 4, true},
		{chapter.Config{Layer: "additive", QueryDim: 3, KeyDim: 3, AttnDim: 5}, "chapter.selfAdditive",
			[]string{"W_query.weight", "W_key.weight", "v.weight"}, 3, false},
	} {
		require.NoError(t, c.config.Validate())
		p := layers.NewParams(tensor.Float64, 1)
		l := must(chapter.New(p.Scope(""), c.config))
		require.Equal(t, c.layer, fmt.Sprintf("%T", l))
		require.Equal(t, c.names, names(p))
		require.Equal(t, c.width, c.config.Width())
		require.Equal(t, c.causal, c.config.Causal())
		out, _ := apply(t, p, l, golden.Numbers(tensor.Float64, 2, 4, 3))
		require.Len(t, out, 2*4*c.width)
	}
}

// A layer uses exactly those fields of a config that change the layer or its graph.
func TestALayerUsesItsFields(t *testing.T) {
	full := func(name string) chapter.Config {
		return chapter.Config{Layer: name, EmbedDim: 4, OutDim: 4, ContextLength: 5, NumHeads: 2, Dropout: 0.5,
			QueryDim: 4, KeyDim: 4, AttnDim: 3}
	}
	for field, change := range map[string]func(c *chapter.Config){
		"EmbedDim":      func(c *chapter.Config) { c.EmbedDim = 6 },
		"OutDim":        func(c *chapter.Config) { c.OutDim = 6 },
		"ContextLength": func(c *chapter.Config) { c.ContextLength = 2 },
		"NumHeads":      func(c *chapter.Config) { c.NumHeads = 1 },
		"QKVBias":       func(c *chapter.Config) { c.QKVBias = true },
		"Dropout":       func(c *chapter.Config) { c.Dropout = 0 },
		"QueryDim":      func(c *chapter.Config) { c.QueryDim = 6 },
		"KeyDim":        func(c *chapter.Config) { c.KeyDim = 6 },
		"AttnDim":       func(c *chapter.Config) { c.AttnDim = 6 },
	} {
		for _, name := range chapter.Names() {
			if name == "simple" && field == "EmbedDim" { // it has no weights, and accepts any width
				require.True(t, full(name).Uses(field))
				continue
			}
			c := full(name)
			before := graphOf(t, c)
			change(&c)
			require.Equal(t, c.Uses(field), before != graphOf(t, c), "%s, %s", name, field)
		}
	}
	for _, name := range chapter.Names() {
		has := name != "simple" && name != "self_v1" && name != "additive"
		require.Equal(t, has, chapter.Config{Layer: name}.Uses("QKVBias"), name)
	}
	require.False(t, chapter.Config{Layer: "none"}.Uses("EmbedDim"))
	require.Zero(t, chapter.Config{Layer: "none", OutDim: 3}.Width())
}

// graphOf describes a layer by its parameters and its graph on (3, 4).
func graphOf(t *testing.T, c chapter.Config) string {
	p := layers.NewParams(tensor.Float64, 1)
	l := must(chapter.New(p.Scope(""), c))
	b := layers.NewBuild(p, layers.Train)
	_, err := l.Forward(b, b.Input("x", 3, 4))
	var text strings.Builder
	for name, shape := range p.Shapes() {
		fmt.Fprintln(&text, name, shape)
	}
	fmt.Fprintln(&text, err)
	for _, n := range b.Graph().AllNodes() {
		fmt.Fprintln(&text, n.Op(), n.Shape())
	}
	return text.String()
}

// Every name of Variants is known, and its config goes through JSON unchanged.
func TestVariantsGoThroughJSON(t *testing.T) {
	require.Len(t, chapter.Names(), 7)
	for _, name := range chapter.Names() {
		c := chapter.Config{Layer: name, EmbedDim: 3, OutDim: 4, ContextLength: 5, NumHeads: 2, QKVBias: true, Dropout: 0.1,
			QueryDim: 3, KeyDim: 3, AttnDim: 7}
		require.NoError(t, c.Validate())
		text := must(json.Marshal(c))
		var back chapter.Config
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, c, back)
	}
	require.Equal(t, `{"layer":"simple"}`, string(must(json.Marshal(chapter.Config{Layer: "simple"}))))
}

// Causal reports whether later tokens have weight 0.
func TestCausalSaysWhatTheWeightsShow(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	for name, l := range selfLayers(t, p) {
		_, weights := apply(t, p, l, golden.Numbers(tensor.Float64, 4, 3))
		hidden := true
		for i := range weights {
			query, key := i/4%4, i%4
			if key > query {
				hidden = hidden && weights[i] == 0
			} else {
				require.NotZero(t, weights[i], name)
			}
		}
		require.Equal(t, chapter.Config{Layer: name}.Causal(), hidden, name)
	}
}

func TestWrongVariantsAreRefused(t *testing.T) {
	const all = "simple, self_v1, self_v2, causal, multi_head_wrapper, multi_head, additive"
	refusal.Check(t, chapter.Config{Layer: "simple"}, "chapter: ", refusal.Rows{
		{`{"layer": ""}`, `Layer: got "", want one of ` + all},
		{`{"layer": "Causal"}`, `Layer: got "Causal", want one of ` + all},
		{`{"layer": "self_v1"}`, "self_v1: EmbedDim: got 0, want at least 1"},
		{`{"layer": "self_v2", "embed_dim": 3}`, "self_v2: OutDim: got 0, want at least 1"},
		{`{"layer": "causal", "embed_dim": 3, "out_dim": 2, "dropout": 1}`,
			"causal: Dropout: got 1, want a number from 0 to below 1"},
		{`{"layer": "multi_head_wrapper", "embed_dim": 3, "out_dim": 2}`,
			"multi_head_wrapper: NumHeads: got 0, want at least 1"},
		{`{"layer": "multi_head", "embed_dim": 3, "out_dim": 3, "num_heads": 2}`,
			"multi_head: NumHeads: got 2, want a divisor of OutDim=3"},
		{`{"layer": "multi_head_wrapper", "embed_dim": 3, "out_dim": 2, "num_heads": 65537}`,
			"multi_head_wrapper: NumHeads: got 65537, want at most 65536"},
		{`{"dropout": 2}`, "simple: Dropout: got 2, want a number from 0 to below 1"},
		{`{"num_heads": 65537}`, "simple: NumHeads: got 65537, want at most 65536"},
		{`{"embed_dim": -1}`, "simple: EmbedDim: got -1, want at least 0"},
		{`{"layer": "self_v1", "embed_dim": 3, "out_dim": 2, "context_length": -1}`,
			"self_v1: ContextLength: got -1, want at least 0"},
		{`{"out_dim": 2147483648}`, "simple: OutDim: got 2147483648, want at most 2147483647"},
		{`{"layer": "additive", "query_dim": 3, "key_dim": 3}`, "additive: AttnDim: got 0, want at least 1"},
		{`{"layer": "self_v1", "embed_dim": 1073741824, "out_dim": 2}`,
			"self_v1: W_query: shape (1073741824, 2), want at most 2147483647 elements"},
	}, chapter.Config.Validate, func(c chapter.Config) error {
		l, err := chapter.New(layers.NewParams(tensor.Float32, 1).Scope(""), c)
		require.Equal(t, err != nil, l == nil, "no layer, not one that is nil inside: %T", l)
		return err
	})
}

// Additive attention by name may also attend from one sequence to another.
func TestAdditiveByName(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	l := must(chapter.NewAdditive(p.Scope(""), chapter.Config{Layer: "additive", QueryDim: 3, KeyDim: 4, AttnDim: 5}))
	b := layers.NewBuild(p, layers.Eval)
	query, key := input(t, b, "query", golden.Numbers(tensor.Float64, 2, 3)), input(t, b, "key",
		golden.Numbers(tensor.Float64, 7, 4))
	require.Equal(t, tensor.Shape{2, 4}, must(l.Forward(b, query, key)).Shape())
	require.Equal(t, tensor.Shape{1, 2, 7}, must(l.Weights(b, query, key)).Shape())
}

// selfLayers are all self-attention layers for tokens of width 3.
func selfLayers(t *testing.T, p *layers.Params) map[string]chapter.Layer {
	t.Helper()
	all := map[string]chapter.Layer{}
	for _, name := range chapter.Names() {
		c := chapter.Config{Layer: name, EmbedDim: 3, OutDim: 4, NumHeads: 2, ContextLength: 5, QueryDim: 3, KeyDim: 3,
			AttnDim: 7}
		all[name] = must(chapter.New(p.Scope(name), c))
	}
	return all
}

// layerNames are the names of selfLayers in errors. The simple one has no parameters and therefore no path.
var layerNames = map[string]string{
	"simple":  "chapter: SimpleSelfAttention",
	"self_v1": "layers: self_v1: Attention",
	"self_v2": "layers: self_v2: Attention",
	"causal":  "layers: causal: Attention", "multi_head_wrapper": "layers: multi_head_wrapper: Attention",
	"multi_head": "layers: multi_head: Attention", "additive": "layers: additive: AdditiveAttention",
}

// Inputs that every self-attention layer refuses, with a message that names the layer.
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
		for _, row := range []struct {
			wantErr string
			x       func(b *layers.Build) *G.Node
			simple  bool // the simple layer refuses this, too: it accepts any width, and no parameter connects it to a graph
		}{
			{wantErr: "got nil, want a node", x: func(*layers.Build) *G.Node { return nil }, simple: true},
			{wantErr: "shape (3), want ([B,] T", x: of(tensor.Float32, 3), simple: true},
			{wantErr: "shape (1, 2, 2, 3), want ([B,] T", x: of(tensor.Float32, 1, 2, 2, 3), simple: true},
			{wantErr: "shape (), want ([B,] T", x: bare, simple: true},
			{wantErr: "got float64, want float32", x: of(tensor.Float64, 2, 3), simple: true},
			{wantErr: "got int, want float32", x: of(tensor.Int, 2, 3), simple: true},
			{wantErr: "a node of another graph", x: foreign},
			{wantErr: "shape (2, 4), want ([B,] T", x: of(tensor.Float32, 2, 4)},
		} {
			if name == "simple" && !row.simple {
				continue
			}
			b := layers.NewBuild(p, layers.Eval)
			require.NotPanics(t, func() {
				out, err := l.Forward(b, row.x(b))
				require.ErrorContains(t, err, row.wantErr, name)
				require.Nil(t, out)
				require.ErrorContains(t, err, layerNames[name]+": ", name)
			}, "%s: %s", name, row.wantErr)
		}
	}
}

// Sequences shorter than the context are accepted, longer ones are not.
func TestContextLength(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	for name, l := range selfLayers(t, p) {
		bounded := name == "causal" || name == "multi_head_wrapper" || name == "multi_head"
		for T := 1; T <= 6; T++ {
			b := layers.NewBuild(p, layers.Eval)
			out, err := l.Forward(b, input(t, b, "x", golden.Numbers(tensor.Float32, 2, T, 3)))
			if bounded && T > 5 {
				require.EqualError(t, err, layerNames[name]+": query: shape (2, 6, 3), want ([B,] T <= ContextLength=5, 3)")
				continue
			}
			require.NoError(t, err, "%s of %d tokens", name, T)
			values(t, out)
		}
	}
}

// Each class computes the same if it is composed of one op per step.
func TestComposed(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	for name, l := range selfLayers(t, p) {
		run := func(patterns ...string) []float64 {
			b := layers.NewBuild(p, layers.Eval)
			b.Compose(patterns...)
			out := b.Of(l.Forward(b, input(t, b, "x", golden.Numbers(tensor.Float64, 5, 3))))
			require.NoError(t, b.Err())
			return values(t, out)[0]
		}
		require.InDeltaSlice(t, run(), run("*"), 1e-12, name)
	}
}
