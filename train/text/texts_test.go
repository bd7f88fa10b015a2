package text

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A token that is part of a character is quoted; the tokens together give the character.
func TestTexts(t *testing.T) {
	bytes, err := TokenizerConfig{Name: Bytes}.New()
	require.NoError(t, err)
	ids, err := bytes.Encode("aé")
	require.NoError(t, err)
	texts, err := Texts(bytes, ids)
	require.NoError(t, err)
	require.Equal(t, []string{"a", `\xc3`, `\xa9`}, texts)
	whole, err := Whole(bytes, ids)
	require.NoError(t, err)
	require.Equal(t, "aé", whole)
	whole, err = Whole(bytes, ids[:2])
	require.NoError(t, err)
	require.Equal(t, "a\ufffd", whole)
	_, err = Texts(bytes, []int{-1})
	require.Error(t, err)
	_, err = Texts(nil, ids)
	require.EqualError(t, err, "text: texts: got no tokenizer, want one")
	_, err = Whole(bytes, []int{-1})
	require.Error(t, err)
}
