package text_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"attention/train/text"
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

	data, err := json.Marshal(v)
	require.NoError(t, err)
	var read text.Vocabulary
	require.NoError(t, json.Unmarshal(data, &read))
	require.Equal(t, v, &read)
	config, err := json.Marshal(v.Config())
	require.NoError(t, err)
	require.Equal(t, string(config), string(data))
	require.NoError(t, json.Unmarshal([]byte(`{"characters": "ab"}`), &read))
	require.Equal(t, "ab", read.Characters())

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

func TestVocabularyJSONErrors(t *testing.T) {
	for data, want := range map[string]string{
		`{"characters":""}`:     "text: Characters: got none, want at least one",
		`{}`:                    "text: Characters: got none, want at least one",
		`{"characters":"ba"}`:   "text: Characters: got 'a' after 'b', want ascending characters",
		`{"characters":"abb"}`:  "text: Characters: got 'b' after 'b', want ascending characters",
		`{"characters":7}`:      "text: vocabulary: characters: got 7, want a string",
		`{"tokenizer":"bytes"}`: `text: vocabulary: got tokenizer "bytes", want "characters"`,
	} {
		v, err := text.NewVocabulary("xyz")
		require.NoError(t, err)
		require.ErrorContains(t, v.UnmarshalJSON([]byte(data)), want)
		require.Equal(t, "xyz", v.Characters(), "a refused vocabulary changes nothing")
	}
}
