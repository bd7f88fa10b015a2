package text_test

import (
	"testing"
	"unicode/utf8"

	"attention/train/text"

	"github.com/stretchr/testify/require"
)

func TestVocabularyRoundTrip(t *testing.T) {
	s := "zebra é\n\x00<&>\u2028\ufffd 日本🙂 zebra"
	v, err := text.NewVocabulary(s)
	require.NoError(t, err)
	require.Equal(t, "\x00\n &<>aberzé\u2028日本\ufffd🙂", v.Characters())
	require.Equal(t, 17, v.Len())
	ids, err := v.Encode(s)
	require.NoError(t, err)
	require.Len(t, ids, len([]rune(s)))
	require.Equal(t, []int{10, 8, 7, 9, 6, 2, 11}, ids[:7])
	back, err := v.Decode(ids)
	require.NoError(t, err)
	require.Equal(t, s, back)

	again, err := v.Config().New()
	require.NoError(t, err)
	require.Equal(t, v, again)

	empty, err := v.Encode("")
	require.NoError(t, err)
	require.Empty(t, empty)
}

func TestVocabularyErrors(t *testing.T) {
	_, err := text.NewVocabulary("")
	require.EqualError(t, err, "text: vocabulary: got an empty text, want at least one character")
	_, err = text.NewVocabulary("ab\xffc")
	require.EqualError(t, err, "text: got byte 0xff at offset 2, want UTF-8")

	v, err := text.NewVocabulary("abé\ufffd")
	require.NoError(t, err)
	_, err = v.Encode("éax")
	require.EqualError(t, err, "text: got 'x' at position 2, want one of the vocabulary's 4 characters")
	_, err = v.Encode("\ufffd\xc3")
	require.EqualError(t, err, "text: got byte 0xc3 at offset 3, want UTF-8")
	_, err = v.Decode([]int{0, 4})
	require.EqualError(t, err, "text: ids: got 4 at position 1, want 0 to 3")
	_, err = v.Decode([]int{-1})
	require.EqualError(t, err, "text: ids: got -1 at position 0, want 0 to 3")
}

// FuzzVocabulary encodes a text with its own characters and those of another.
func FuzzVocabulary(f *testing.F) {
	for i, s := range texts() {
		f.Add(s, texts()[len(texts())-1-i])
	}
	f.Fuzz(func(t *testing.T, s, other string) {
		v, err := text.NewVocabulary(s)
		if s == "" || !utf8.ValidString(s) {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		requireRoundTrip(t, v, s)
		again, err := v.Config().New()
		require.NoError(t, err)
		require.Equal(t, v, again)
		if _, err := v.Encode(other); err == nil {
			requireRoundTrip(t, v, other)
		}
	})
}
