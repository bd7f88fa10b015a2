package forward

import (
	"testing"

	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// pieces is a tokenizer whose token i is the i-th text.
type pieces []string

func (p pieces) Len() int { return len(p) }

func (p pieces) Config() text.TokenizerConfig { return text.TokenizerConfig{} }

func (p pieces) Encode(string) ([]int, error) { return nil, nil }

func (p pieces) Decode(ids []int) (s string, err error) {
	for _, id := range ids {
		s += p[id]
	}
	return s, nil
}

// Tokens that together are a character have it and their places in it; a part whose rest is missing has its bytes.
func TestTokensOfOneCharacter(t *testing.T) {
	all := pieces{"a", "\xe6", "\x97", "\xa5", " \xe6", "\x9c\xac"}
	got, err := tokensOf(all, []int{1, 2, 3, 0, 4, 5, 1, 2, 0, 1})
	require.NoError(t, err)
	part := func(id int, text, of string, at int) Token { return Token{id, text, true, of, at} }
	require.Equal(t, []Token{
		part(1, `\xe6`, "日", 1), part(2, `\x97`, "日", 2), part(3, `\xa5`, "日", 3), {ID: 0, Text: "a"},
		part(4, ` \xe6`, " 本", 1), part(5, `\x9c\xac`, " 本", 2), part(1, `\xe6`, "", 0), part(2, `\x97`, "", 0),
		{ID: 0, Text: "a"}, part(1, `\xe6`, "", 0)}, got)
}
