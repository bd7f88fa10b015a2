package train_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"attention/train"
)

func TestVocabularyRoundTrip(t *testing.T) {
	text := "zebra é\n\x00<&>\u2028\ufffd 日本🙂 zebra"
	v, err := train.NewVocabulary(text)
	require.NoError(t, err)
	require.Equal(t, "\x00\n &<>aberzé\u2028日本\ufffd🙂", v.Characters())
	require.Equal(t, 17, v.Len())
	ids, err := v.Encode(text)
	require.NoError(t, err)
	require.Len(t, ids, len([]rune(text)))
	require.Equal(t, []int{10, 8, 7, 9, 6, 2, 11}, ids[:7])
	back, err := v.Decode(ids)
	require.NoError(t, err)
	require.Equal(t, text, back)

	data, err := json.Marshal(v)
	require.NoError(t, err)
	var read train.Vocabulary
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
	_, err := train.NewVocabulary("")
	require.EqualError(t, err, "train: vocabulary: got an empty text, want at least one character")
	_, err = train.NewVocabulary("ab\xffc")
	require.EqualError(t, err, "train: text: got byte 0xff at offset 2, want UTF-8")

	v, err := train.NewVocabulary("abé\ufffd")
	require.NoError(t, err)
	_, err = v.Encode("éax")
	require.EqualError(t, err, "train: text: got 'x' at position 2, want one of the vocabulary's 4 characters")
	_, err = v.Encode("\ufffd\xc3")
	require.EqualError(t, err, "train: text: got byte 0xc3 at offset 3, want UTF-8")
	_, err = v.Decode([]int{0, 4})
	require.EqualError(t, err, "train: ids: got 4 at position 1, want 0 to 3")
	_, err = v.Decode([]int{-1})
	require.EqualError(t, err, "train: ids: got -1 at position 0, want 0 to 3")
}

func TestVocabularyJSONErrors(t *testing.T) {
	for data, want := range map[string]string{
		`{"characters":""}`:     "train: vocabulary: got no characters, want at least one",
		`{}`:                    "train: vocabulary: got no characters, want at least one",
		`{"characters":"ba"}`:   "train: vocabulary: got 'a' after 'b', want ascending characters",
		`{"characters":"abb"}`:  "train: vocabulary: got 'b' after 'b', want ascending characters",
		`{"characters":7}`:      "train: vocabulary: json: cannot unmarshal number",
		`{"tokenizer":"bytes"}`: `train: vocabulary: got tokenizer "bytes", want "characters"`,
	} {
		v, err := train.NewVocabulary("xyz")
		require.NoError(t, err)
		require.ErrorContains(t, v.UnmarshalJSON([]byte(data)), want)
		require.Equal(t, "xyz", v.Characters(), "a refused vocabulary changes nothing")
	}
}

func TestSplit(t *testing.T) {
	ids := make([]int, 0, 101)
	for i := range cap(ids) {
		ids = append(ids, i)
	}
	training, validation, err := train.Split(ids, 10)
	require.NoError(t, err)
	require.Equal(t, ids[:90], training)
	require.Equal(t, ids[90:], validation)
	require.Equal(t, 90, cap(training), "appending to the training split must not write into the other")

	_, _, err = train.Split(ids[:100], 10)
	require.EqualError(t, err, "train: text: got 100 tokens, 90 to train on and 10 to validate on, want both to be more than the context of 10: at least 101 tokens")
	_, _, err = train.Split(nil, 1)
	require.EqualError(t, err, "train: text: got 0 tokens, 0 to train on and 0 to validate on, want both to be more than the context of 1: at least 11 tokens")
	_, _, err = train.Split(ids, 0)
	require.EqualError(t, err, "train: context: got 0, want a number >= 1")

	// The promised least length is the least that works, and 9/10 is rounded down.
	for context := 1; context < 40; context++ {
		_, _, err = train.Split(make([]int, 10*context), context)
		require.Error(t, err)
		training, _, err := train.Split(make([]int, 10*context+1), context)
		require.NoError(t, err)
		require.Len(t, training, (10*context+1)*9/10)
	}
}
