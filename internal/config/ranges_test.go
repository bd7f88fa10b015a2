package config_test

import (
	"math"
	"testing"

	"attention/internal/config"

	"github.com/stretchr/testify/require"
)

func TestRanges(t *testing.T) {
	c := attention{NumHeads: -1, OutDim: 3, Dropout: 0.5, RoPE: &rope{Dims: 2}, Plain: 1}
	dropout := func(x float64) attention { return attention{Dropout: x} }
	for _, c := range []struct {
		reason string
		err    error
		want   string
	}{
		{"in order", config.AtLeast(c, 1, "OutDim", "RoPE.Dims", "Plain"), ""},
		{"the least", config.AtLeast(&c, 3, "OutDim"), ""},
		{"negative and allowed", config.AtLeast(&c, -1, "NumHeads", "Plain", "Dropout"), ""},
		{"one less", config.AtLeast(c, 0, "OutDim", "NumHeads", "Nothing"), "num_heads: got -1, want at least 0"},
		{"of another config", config.AtLeast(c, 3, "RoPE.Dims"), "rope.dims: got 2, want at least 3"},
		{"behind a pointer", config.AtLeast(struct{ X *float64 }{new(-1.5)}, 0, "X"),
			"X: got -1.5, want a finite number of at least 0"},
		{"a nil pointer", config.AtLeast(struct{ X *float64 }{}, 0, "X"), ""},
		{"unsigned", config.AtLeast(c, 2, "Plain"), "Plain: got 1, want at least 2"},
		{"a float", config.AtLeast(c, 1, "Dropout"), "dropout: got 0.5, want a finite number of at least 1"},
		{"infinite", config.AtLeast(dropout(math.Inf(1)), 0, "Dropout"),
			"dropout: got +Inf, want a finite number of at least 0"},
		{"NaN", config.AtLeast(dropout(math.NaN()), 0, "Dropout"), "dropout: got NaN, want a finite number of at least 0"},

		{"the most", config.AtMost(c, 3, "OutDim", "NumHeads", "RoPE.Dims", "Plain"), ""},
		{"one more", config.AtMost(&c, 2, "Plain", "OutDim"), "out_dim: got 3, want at most 2"},
		{"more, unsigned", config.AtMost(c, 0, "Plain"), "Plain: got 1, want at most 0"},
		{"more, a float", config.AtMost(c, 0, "Dropout"), "dropout: got 0.5, want at most 0"},
		{"more than no number", config.AtMost(c, 0, "RoPE"), "config: config_test.attention.RoPE: got no number, want one"},

		{"a probability", config.Probability(c, "Dropout"), ""},
		{"none", config.Probability(dropout(0), "Dropout"), ""},
		{"all", config.Probability(dropout(1), "Dropout"), "dropout: got 1, want a number from 0 to below 1"},
		{"below none", config.Probability(dropout(-0.1), "Dropout"), "dropout: got -0.1, want a number from 0 to below 1"},
		{"no probability", config.Probability(dropout(math.NaN()), "Dropout"),
			"dropout: got NaN, want a number from 0 to below 1"},

		{"one of them", config.OneOf(c, "Layout", "a", "b", "a"), ""},
		{"none of them", config.OneOf(c, "RoPE", word("c"), "b", "a"), `rope: got "c", want one of b, a`},

		{"a word that names no field", config.AtLeast(c, 0, "Heads"),
			"config: config_test.attention.Heads: got no number, want one"},
		{"no number", config.Probability(c, "RoPE"), "config: config_test.attention.RoPE: got no number, want one"},
		{"no config", config.AtLeast(nil, 0, "RoPE"), "config: <nil>.RoPE: got no number, want one"},
		{"a config that is not there", config.AtLeast(attention{}, 0, "RoPE.Dims"),
			"config: config_test.attention.RoPE.Dims: got no number, want one"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			if c.want == "" {
				require.NoError(t, c.err)
				return
			}
			require.EqualError(t, config.JSON(c.err), c.want)
		})
	}
}

func TestNotNil(t *testing.T) {
	require.NoError(t, config.NotNil(new(int)))
	require.EqualError(t, config.NotNil[int](nil), "got a *int that is nil to read into, want one")
}
