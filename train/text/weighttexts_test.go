package text

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// A note is read as it was written, but only for weights of its shape.
func TestWeightTexts(t *testing.T) {
	want := WeightTexts{Queries: []string{"a"}, Keys: []string{"a", "\n<é>"}, Causal: true}
	got, err := ReadWeightTexts(want.Note(), tensor.Shape{5, 1, 2})
	require.NoError(t, err)
	require.Equal(t, want, got)
	_, err = ReadWeightTexts(want.Note(), tensor.Shape{2, 2})
	require.EqualError(t, err, "got 1 queries and 2 keys, want 2 and 2")
	_, err = ReadWeightTexts("", tensor.Shape{1, 1})
	require.Error(t, err)
	_, err = ReadWeightTexts(want.Note(), tensor.Shape{2})
	require.EqualError(t, err, "got weights of shape (2), want queries and keys")
}

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
