package pattern_test

import (
	"strings"
	"testing"

	"attention/internal/pattern"

	"github.com/stretchr/testify/require"
)

var names = strings.Fields(`transformer.wte.weight transformer.wpe.weight
	transformer.h.1.ln_1.weight transformer.h.1.ln_1.bias transformer.h.1.mlp.c_fc.weight
	transformer.h.10.ln_1.weight transformer.h.10.ln_1.bias transformer.h.10.mlp.c_fc.weight
	transformer.ln_f.weight transformer.ln_f.bias`)

func TestMatch(t *testing.T) {
	for _, c := range []struct{ reason, pattern, want string }{
		{reason: "a whole name", pattern: "transformer.wte.weight", want: "transformer.wte.weight"},
		{reason: "a part in the middle", pattern: "wte", want: "transformer.wte.weight"},
		{reason: "a part of several words", pattern: "ln_f.bias", want: "transformer.ln_f.bias"},
		{reason: "a last part", pattern: "bias",
			want: "transformer.h.1.ln_1.bias transformer.h.10.ln_1.bias transformer.ln_f.bias"},
		{reason: "1 is not the beginning of 10", pattern: "h.1",
			want: "transformer.h.1.ln_1.weight transformer.h.1.ln_1.bias transformer.h.1.mlp.c_fc.weight"},
		{reason: "all in a layer", pattern: "h.1.*",
			want: "transformer.h.1.ln_1.weight transformer.h.1.ln_1.bias transformer.h.1.mlp.c_fc.weight"},
		{reason: "a star in the middle", pattern: "h.*.mlp",
			want: "transformer.h.1.mlp.c_fc.weight transformer.h.10.mlp.c_fc.weight"},
		{reason: "one character", pattern: "w?e", want: "transformer.wte.weight transformer.wpe.weight"},
		{reason: "a class", pattern: "ln_[a-z].weight", want: "transformer.ln_f.weight"},
		{reason: "all", pattern: "*", want: strings.Join(names, " ")},
	} {
		got, err := pattern.Match(c.pattern, names)
		require.NoError(t, err, c.reason)
		require.Equal(t, strings.Fields(c.want), got, c.reason)
	}
}

func TestMatchRefuses(t *testing.T) {
	for _, c := range []struct{ reason, pattern, want string }{
		{reason: "one letter is wrong", pattern: "wtf",
			want: `got "wtf", want a pattern of the 10 parameters' names, such as wte, wpe`},
		{reason: "there is no such block", pattern: "h.11.*",
			want: `got "h.11.*", want a pattern of the 10 parameters' names, such as h.1, h.10`},
		{reason: "a word's beginning is no part", pattern: "transf",
			want: `got "transf", want a pattern of the 10 parameters' names, such as transformer, transformer.h, ` +
				"transformer.wte"},
		{reason: "nothing", pattern: "", want: `got "", want a pattern of the 10 parameters' names, such as h, 1, 10`},
		{reason: "a class that does not end", pattern: "h.[", want: `got "h.[", want a pattern of path.Match`},
		{reason: "endless", pattern: strings.Repeat("é", 1000),
			want: `got "` + strings.Repeat("é", 60) + `", want a pattern of the 10 parameters' names, such as `},
	} {
		_, err := pattern.Match(c.pattern, names)
		require.ErrorContains(t, err, c.want, c.reason)
	}
	_, err := pattern.Match("wte", nil)
	require.EqualError(t, err, `got "wte", want a pattern of the 0 parameters' names`)
}
