package graph_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

func TestRoPEConfigValidate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	linear, ntk, llama3, yarn := graph.LinearScaling, graph.NTKScaling, graph.Llama3Scaling, graph.YaRNScaling
	for _, c := range []struct {
		config  graph.RoPEConfig
		headDim int
		want    string
	}{
		{config: graph.RoPEConfig{Heads: -1}, headDim: 4, want: "Heads: got -1, want at least 0"},
		{config: graph.RoPEConfig{}, headDim: 7,
			want: "Dims: got 0 for D=7, want an even D above 0, or an even number of its elements"},
		{config: graph.RoPEConfig{}, headDim: 0,
			want: "Dims: got 0 for D=0, want an even D above 0, or an even number of its elements"},
		{config: graph.RoPEConfig{Dims: 3}, headDim: 7, want: "Dims: got 3, want an even number from 0 to D=7"},
		{config: graph.RoPEConfig{Dims: 8}, headDim: 7, want: "Dims: got 8, want an even number from 0 to D=7"},
		{config: graph.RoPEConfig{Dims: -2}, headDim: 7, want: "Dims: got -2, want an even number from 0 to D=7"},
		{config: graph.RoPEConfig{Base: 0.5}, headDim: 4,
			want: "Base: got 0.5, want a finite number of at least 1, or 0 for 10000"},
		{config: graph.RoPEConfig{Base: -1}, headDim: 4,
			want: "Base: got -1, want a finite number of at least 1, or 0 for 10000"},
		{config: graph.RoPEConfig{Base: nan}, headDim: 4,
			want: "Base: got NaN, want a finite number of at least 1, or 0 for 10000"},
		{config: graph.RoPEConfig{Base: inf}, headDim: 4,
			want: "Base: got +Inf, want a finite number of at least 1, or 0 for 10000"},
		{config: graph.RoPEConfig{Scaling: 7}, headDim: 4,
			want: "Scaling: got RoPEScaling(7), want one of none, linear, ntk, llama3, yarn"},
		{config: graph.RoPEConfig{Factor: 2}, headDim: 4, want: "Factor: got 2 without Scaling, want 0"},
		{config: graph.RoPEConfig{Scaling: linear}, headDim: 4,
			want: "Factor: got 0, want a finite number of at least 1 for Scaling linear"},
		{config: graph.RoPEConfig{Scaling: ntk, Factor: nan}, headDim: 4,
			want: "Factor: got NaN, want a finite number of at least 1 for Scaling ntk"},
		{config: graph.RoPEConfig{Scaling: linear, Factor: inf}, headDim: 4,
			want: "Factor: got +Inf, want a finite number of at least 1 for Scaling linear"},
		{config: graph.RoPEConfig{Scaling: ntk, Factor: 2}, headDim: 2, want: "Dims: got 2, want at least 4 for Scaling ntk"},
		{config: graph.RoPEConfig{Scaling: ntk, Factor: 1e200}, headDim: 4,
			want: "Factor: got 1e+200, want one that keeps Base finite"},
		{config: graph.RoPEConfig{OriginalLength: 8}, headDim: 4, want: "OriginalLength: got 8 for Scaling none, want 0"},
		{config: graph.RoPEConfig{Scaling: linear, Factor: 2, BetaFast: 3}, headDim: 4,
			want: "BetaFast: got 3 for Scaling linear, want 0"},
		{config: graph.RoPEConfig{Scaling: llama3, Factor: 2, OriginalLength: 8, AttentionFactor: nan}, headDim: 4,
			want: "AttentionFactor: got NaN for Scaling llama3, want 0"},
		{config: graph.RoPEConfig{Scaling: llama3, Factor: 2}, headDim: 4,
			want: "OriginalLength: got 0, want at least 1 for Scaling llama3"},
		{config: graph.RoPEConfig{Scaling: llama3, Factor: 2, OriginalLength: -5}, headDim: 4,
			want: "OriginalLength: got -5, want at least 1 for Scaling llama3"},
		{config: graph.RoPEConfig{Scaling: llama3, Factor: 2, OriginalLength: 8, LowFreqFactor: 4}, headDim: 4,
			want: "HighFreqFactor: got 4, want more than the 4 of LowFreqFactor"},
		{config: graph.RoPEConfig{Scaling: llama3, Factor: 2, OriginalLength: 8, HighFreqFactor: inf}, headDim: 4,
			want: "HighFreqFactor: got +Inf, want a finite number above 0, or 0 for the default"},
		{config: graph.RoPEConfig{Scaling: yarn, Factor: 2, OriginalLength: 8, BetaFast: 0.5}, headDim: 4,
			want: "BetaFast: got 0.5, want more than the 1 of BetaSlow"},
		{config: graph.RoPEConfig{Scaling: yarn, Factor: 2, OriginalLength: 8, AttentionFactor: -1}, headDim: 4,
			want: "AttentionFactor: got -1, want a finite number above 0, or 0 for the default"},
		{config: graph.RoPEConfig{Scaling: yarn, Factor: 2, OriginalLength: 8, Base: 1}, headDim: 4,
			want: "Base: got 1, want more for Scaling yarn"},
	} {
		require.EqualError(t, c.config.Validate(c.headDim), "graph: RoPE: "+c.want)
		if c.headDim > 0 && c.config.Heads == 0 {
			n, err := graph.RoPE(bench{G.NewGraph()}.f(3, c.headDim), nil, c.config)
			require.EqualError(t, err, "graph: RoPE: "+c.want)
			require.Nil(t, n)
		}
	}
	for _, c := range []graph.RoPEConfig{{}, {Dims: 4,
		Base: 1}, {Heads: 5, Scaling: linear, Factor: 1}, {Scaling: ntk, Factor: 8}} {
		require.NoError(t, c.Validate(6))
	}
	b := bench{G.NewGraph()}
	for _, x := range []*G.Node{b.f(), b.f(4), b.f(3, 4)} {
		_, err := graph.RoPE(x, nil, graph.RoPEConfig{Heads: 3})
		require.EqualError(t, err, fmt.Sprintf("graph: RoPE: x: shape %v, want (…, T, H·D) with H=3", x.Shape()))
	}
}

func TestRoPEConfigAsJSON(t *testing.T) {
	for _, c := range []struct {
		config graph.RoPEConfig
		text   string
	}{
		{config: graph.RoPEConfig{}, text: `{}`},
		{config: graph.RoPEConfig{Dims: 4, Base: 5e5, Interleaved: true, Scaling: graph.LinearScaling, Factor: 2.5},
			text: `{"dims":4,"base":500000,"interleaved":true,"scaling":"linear","factor":2.5}`},
		{config: graph.RoPEConfig{Scaling: graph.NTKScaling, Factor: 8}, text: `{"scaling":"ntk","factor":8}`},
		{config: graph.RoPEConfig{Scaling: graph.Llama3Scaling, Factor: 8, OriginalLength: 8192, HighFreqFactor: 2},
			text: `{"scaling":"llama3","factor":8,"original_max_position_embeddings":8192,"high_freq_factor":2}`},
	} {
		text, err := json.Marshal(c.config)
		require.NoError(t, err)
		require.Equal(t, c.text, string(text))
		var back graph.RoPEConfig
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, c.config, back)
	}
	heads, err := json.Marshal(graph.RoPEConfig{Heads: 7})
	require.NoError(t, err)
	require.Equal(t, `{}`, string(heads), "heads are the model's")
	var c graph.RoPEConfig
	require.NoError(t, json.Unmarshal([]byte(`{"scaling":"none"}`), &c))
	require.EqualError(t, json.Unmarshal([]byte(`{"scaling":"dynamic"}`), &c),
		`got "dynamic", want one of none, linear, ntk, llama3, yarn`)
	_, err = graph.RoPEScaling(9).MarshalText()
	require.EqualError(t, err, "got RoPEScaling(9), want one of none, linear, ntk, llama3, yarn")
}
