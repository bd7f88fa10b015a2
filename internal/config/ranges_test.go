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
		{reason: "in order", err: config.AtLeast(c, 1, "OutDim", "RoPE.Dims", "Plain")},
		{reason: "the least", err: config.AtLeast(&c, 3, "OutDim")},
		{reason: "negative and allowed", err: config.AtLeast(&c, -1, "NumHeads", "Plain", "Dropout")},
		{reason: "one less", err: config.AtLeast(c, 0, "OutDim", "NumHeads", "Nothing"),
			want: "num_heads: got -1, want at least 0"},
		{reason: "of another config", err: config.AtLeast(c, 3, "RoPE.Dims"), want: "rope.dims: got 2, want at least 3"},
		{reason: "behind a pointer", err: config.AtLeast(struct{ X *float64 }{new(-1.5)}, 0, "X"),
			want: "X: got -1.5, want a finite number of at least 0"},
		{reason: "a nil pointer", err: config.AtLeast(struct{ X *float64 }{}, 0, "X")},
		{reason: "unsigned", err: config.AtLeast(c, 2, "Plain"), want: "Plain: got 1, want at least 2"},
		{reason: "a float", err: config.AtLeast(c, 1, "Dropout"),
			want: "dropout: got 0.5, want a finite number of at least 1"},
		{reason: "infinite", err: config.AtLeast(dropout(math.Inf(1)), 0, "Dropout"),
			want: "dropout: got +Inf, want a finite number of at least 0"},
		{reason: "NaN", err: config.AtLeast(dropout(math.NaN()), 0, "Dropout"),
			want: "dropout: got NaN, want a finite number of at least 0"},

		{reason: "the most", err: config.AtMost(c, 3, "OutDim", "NumHeads", "RoPE.Dims", "Plain")},
		{reason: "one more", err: config.AtMost(&c, 2, "Plain", "OutDim"), want: "out_dim: got 3, want at most 2"},
		{reason: "more, unsigned", err: config.AtMost(c, 0, "Plain"), want: "Plain: got 1, want at most 0"},
		{reason: "more, a float", err: config.AtMost(c, 0, "Dropout"), want: "dropout: got 0.5, want at most 0"},
		{reason: "more than no number", err: config.AtMost(c, 0, "RoPE"),
			want: "config: config_test.attention.RoPE: got no number, want one"},

		{reason: "a probability", err: config.Probability(c, "Dropout")},
		{reason: "none", err: config.Probability(dropout(0), "Dropout")},
		{reason: "all", err: config.Probability(dropout(1), "Dropout"),
			want: "dropout: got 1, want a number from 0 to below 1"},
		{reason: "below none", err: config.Probability(dropout(-0.1), "Dropout"),
			want: "dropout: got -0.1, want a number from 0 to below 1"},
		{reason: "no probability", err: config.Probability(dropout(math.NaN()), "Dropout"),
			want: "dropout: got NaN, want a number from 0 to below 1"},

		{reason: "one of them", err: config.OneOf(c, "Layout", "a", "b", "a")},
		{reason: "none of them", err: config.OneOf(c, "RoPE", word("c"), "b", "a"), want: `rope: got "c", want one of b, a`},

		{reason: "a word that names no field", err: config.AtLeast(c, 0, "Heads"),
			want: "config: config_test.attention.Heads: got no number, want one"},
		{reason: "no number", err: config.Probability(c, "RoPE"),
			want: "config: config_test.attention.RoPE: got no number, want one"},
		{reason: "no config", err: config.AtLeast(nil, 0, "RoPE"), want: "config: <nil>.RoPE: got no number, want one"},
		{reason: "a config that is not there", err: config.AtLeast(attention{}, 0, "RoPE.Dims"),
			want: "config: config_test.attention.RoPE.Dims: got no number, want one"},
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
