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
		{"a whole name", "transformer.wte.weight", "transformer.wte.weight"},
		{"a part in the middle", "wte", "transformer.wte.weight"},
		{"a part of several words", "ln_f.bias", "transformer.ln_f.bias"},
		{"a last part", "bias", "transformer.h.1.ln_1.bias transformer.h.10.ln_1.bias transformer.ln_f.bias"},
		{"1 is not the beginning of 10", "h.1",
			"transformer.h.1.ln_1.weight transformer.h.1.ln_1.bias transformer.h.1.mlp.c_fc.weight"},
		{"all in a layer", "h.1.*", "transformer.h.1.ln_1.weight transformer.h.1.ln_1.bias transformer.h.1.mlp.c_fc.weight"},
		{"a star in the middle", "h.*.mlp", "transformer.h.1.mlp.c_fc.weight transformer.h.10.mlp.c_fc.weight"},
		{"one character", "w?e", "transformer.wte.weight transformer.wpe.weight"},
		{"a class", "ln_[a-z].weight", "transformer.ln_f.weight"},
		{"all", "*", strings.Join(names, " ")},
	} {
		got, err := pattern.Match(c.pattern, names)
		require.NoError(t, err, c.reason)
		require.Equal(t, strings.Fields(c.want), got, c.reason)
	}
}

func TestMatchRefuses(t *testing.T) {
	for _, c := range []struct{ reason, pattern, want string }{
		{"one letter is wrong", "wtf", `got "wtf", want a pattern of the 10 parameters' names, such as wte, wpe`},
		{"there is no such block", "h.11.*", `got "h.11.*", want a pattern of the 10 parameters' names, such as h.1, h.10`},
		{"a word's beginning is no part", "transf",
			`got "transf", want a pattern of the 10 parameters' names, such as transformer, transformer.h, ` +
				"transformer.wte"},
		{"nothing", "", `got "", want a pattern of the 10 parameters' names, such as h, 1, 10`},
		{"a class that does not end", "h.[", `got "h.[", want a pattern of path.Match`},
		{"endless", strings.Repeat("é", 1000),
			`got "` + strings.Repeat("é", 60) + `", want a pattern of the 10 parameters' names, such as `},
	} {
		_, err := pattern.Match(c.pattern, names)
		require.ErrorContains(t, err, c.want, c.reason)
	}
	_, err := pattern.Match("wte", nil)
	require.EqualError(t, err, `got "wte", want a pattern of the 0 parameters' names`)
}
