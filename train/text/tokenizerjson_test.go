package text_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// tokenizerCase is a tokenizer.json with the results of Hugging Face's engine in Rust for texts, from
// testdata/rust/make.mjs.
type tokenizerCase struct {
	Name      string          `json:"name"`
	Tokenizer json.RawMessage `json:"tokenizer"`
	Rows      []struct {
		Text     string  `json:"text"`
		IDs      []int   `json:"ids"`
		Template []int   `json:"template"` // ids including those of the template
		Back     *string `json:"back"`     // the text of the ids; nil if it is Text
	} `json:"rows"`
}

// tokenizerCases returns the cases of all files.
func tokenizerCases(t testing.TB) (all []tokenizerCase) {
	files, err := filepath.Glob("testdata/tokenizers/*.json")
	require.NoError(t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		require.LessOrEqual(t, len(data), 200_000, file)
		var cases []tokenizerCase
		require.NoError(t, json.Unmarshal(data, &cases), file)
		all = append(all, cases...)
	}
	return all
}

// TestTokenizerJSON: tokenizers of real models, cut to their first merges, and one for each component have the ids and
// texts of Hugging Face's engine.
func TestTokenizerJSON(t *testing.T) {
	cases := tokenizerCases(t)
	require.Greater(t, len(cases), 60)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			tokenizer, err := text.ReadTokenizer(c.Tokenizer)
			require.NoError(t, err)
			require.Greater(t, len(c.Rows), 40)
			for _, row := range c.Rows {
				ids, err := tokenizer.Encode(row.Text)
				require.NoError(t, err)
				require.Equal(t, row.IDs, ids, "%q", row.Text)
				if row.Template != nil {
					require.Equal(t, row.Template, tokenizer.WithTemplate(ids), "%q", row.Text)
				}
				want := row.Text
				if row.Back != nil {
					want = *row.Back
				}
				require.Equal(t, want, strings.Join(stream(t, tokenizer, ids), ""), "%q", row.Text)
				back, err := tokenizer.Decode(ids)
				require.NoError(t, err)
				require.Equal(t, want, strings.ToValidUTF8(back, "\ufffd"), "%q", row.Text)
			}
		})
	}
}

// small is a tokenizer.json with one member replaced by another.
func small(change ...string) string {
	whole := `{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [{"id": 5, "content": "<s>",
		"single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}], "normalizer": null,
		"pre_tokenizer": null, "post_processor": null, "decoder": null, "model": {"type": "BPE", "unk_token": null,
		"vocab": {"a": 0, "b": 1, "ab": 2, "c": 3, "abc": 4}, "merges": ["a b", "ab c"]}}`
	for i := 0; i < len(change); i += 2 {
		if !strings.Contains(whole, change[i]) {
			panic(change[i])
		}
		whole = strings.Replace(whole, change[i], change[i+1], 1)
	}
	return whole
}

// TestTokenizerJSONErrors: the error about wrong or unsupported contents of a file is one line.
func TestTokenizerJSONErrors(t *testing.T) {
	const preTokenizer, normalizer, decoder = `"pre_tokenizer": null`, `"normalizer": null`, `"decoder": null`
	deep := strings.Repeat(`{"type": "Sequence", "normalizers": [`, 9) + strings.Repeat(`]}`, 9)
	for _, row := range []struct{ name, file, want string }{
		{name: "empty", file: ``, want: `got an empty file, want an object`},
		{name: "no object", file: `[]`, want: `got [ at byte 0, want an object`},
		{name: "cut", file: small()[:200], want: `unexpected EOF`},
		{name: "something behind it", file: small() + "{}", want: `after the object, want its end`},
		{name: "nothing in it", file: `{}`, want: `got no model with a vocab, want one`},
		{name: "unknown key", file: small(`"version"`, `"verse"`), want: `got key "verse", want none`},
		{name: "key twice", file: small(`"padding"`, `"truncation"`), want: `key "truncation" comes twice`},
		{name: "Unigram", file: small(`"BPE"`, `"Unigram"`), want: `model: type: got "Unigram", want BPE`},
		{name: "WordPiece", file: small(`"BPE"`, `"WordPiece"`), want: `model: unk_token: got "", want a token`},
		{name: "prefix of BPE", file: small(`"unk_token": null`, `"continuing_subword_prefix": "##"`),
			want: `got continuing_subword_prefix "##" and max_input_chars_per_word 0 with type BPE, want neither`},
		{name: "list of tokens", file: small(`{"a": 0, "b": 1, "ab": 2, "c": 3, "abc": 4}`, `[["a", 0]]`),
			want: `model: vocab: got a list, as Unigram models have it`},
		{name: "dropout", file: small(`"unk_token": null`, `"dropout": 0.1`), want: `model: dropout: got 0.1, want null`},
		{name: "unk_token", file: small(`"unk_token": null`, `"unk_token": "?"`), want: `unk_token: got "?", want a token`},
		{name: "token twice", file: small(`"b": 1`, `"a": 1`), want: `token "a" comes twice, with ids 0 and 1`},
		{name: "escaped token twice", file: small(`"b": 1`, `"\u0061": 1`), want: `token "a" comes twice`},
		{name: "id twice", file: small(`"b": 1`, `"b": 0`), want: `id 0 comes twice, of tokens "a" and "b"`},
		{name: "negative id", file: small(`"b": 1`, `"b": -1`), want: `"b": got id -1, want 0 to 2097151`},
		{name: "huge id", file: small(`"b": 1`, `"b": 99999999999999999999`), want: `got id 99999999999999999999, want`},
		{name: "broken id", file: small(`"b": 1`, `"b": 1.5`), want: `"b": got id 1.5, want 0 to`},
		{name: "no UTF-8", file: small(`"b": 1`, "\"b\xff\": 1"), want: `invalid UTF-8`},
		{name: "half a character", file: small(`"b": 1`, `"\ud800": 1`), want: `invalid`},
		{name: "merge of one", file: small(`"a b"`, `"ab"`), want: `got merge "ab", want two tokens`},
		{name: "merge of three", file: small(`"a b"`, `"a b c"`), want: `got merge "a b c", want two tokens`},
		{name: "merge of a list of three", file: small(`"a b"`, `["a", "b", "c"]`), want: `want a pair of tokens`},
		{name: "merge of a number", file: small(`"a b"`, `7`), want: `want a merge, as a string or a list`},
		{name: "merge of nothing", file: small(`"a b"`, `"a "`), want: `got "a" and "" at 0, want tokens`},
		{name: "merge into nothing", file: small(`"a b"`, `"b a"`), want: `got "b" and "a" at 0, want tokens`},
		{name: "added token with another id", file: small(`"content": "<s>"`, `"content": "a"`),
			want: `"a": got id 5, want 0`},
		{name: "added token on another's id", file: small(`"id": 5`, `"id": 4`), want: `id 4 comes twice`},
		{name: "added token far away", file: small(`"id": 5`, `"id": 4000000000`),
			want: `"<s>": got id 4000000000, want 0 to`},
		{name: "flag of an added token", file: small(`"lstrip": false`, `"lstripe": false`), want: `lstripe`},
		{name: "normalizer", file: small(normalizer, `"normalizer": {"type": "Precompiled"}`),
			want: `normalizer: got type "Precompiled", want one of Sequence, NFC`},
		{name: "Sequences in each other", file: small(normalizer, `"normalizer": `+deep),
			want: `normalizer: got more than 8 Sequences in each other`},
		{name: "pattern", file: small(preTokenizer, `"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(a"},
			"behavior": "Isolated", "invert": false}`), want: `pre_tokenizer: got pattern "(a", want a regular expression`},
		{name: "no pattern", file: small(preTokenizer, `"pre_tokenizer": {"type": "Split", "behavior": "Isolated"}`),
			want: `pre_tokenizer: pattern: got none, want a String or a Regex`},
		{name: "behavior", file: small(preTokenizer, `"pre_tokenizer": {"type": "Split", "pattern": {"String": "a"},
			"behavior": "Merged"}`), want: `behavior: got "Merged", want one of Removed`},
		{name: "no behavior", file: small(preTokenizer, `"pre_tokenizer": {"type": "Split", "pattern": {"String": "a"}}`),
			want: `behavior: got "none", want one of Removed`},
		{name: "after ByteLevel", file: small(preTokenizer, `"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
			{"type": "ByteLevel"}, {"type": "Whitespace"}]}`),
			want: `got Whitespace after ByteLevel, want ByteLevel at the end`},
		{name: "Metaspace", file: small(preTokenizer, `"pre_tokenizer": {"type": "Metaspace", "replacement": "__"}`),
			want: `replacement: got "__", want one character`},
		{name: "scheme", file: small(preTokenizer, `"pre_tokenizer": {"type": "Metaspace", "replacement": "_",
			"prepend_scheme": "last"}`), want: `prepend_scheme: got "last", want one of always, first, never`},
		{name: "scheme and prefix", file: small(preTokenizer, `"pre_tokenizer": {"type": "Metaspace", "replacement": "_",
			"prepend_scheme": "first", "add_prefix_space": false}`),
			want: `add_prefix_space: got false with prepend_scheme first, want never`},
		{name: "unknown field", file: small(preTokenizer, `"pre_tokenizer": {"type": "Whitespace", "wide": true}`),
			want: `wide`},
		{name: "decoder", file: small(decoder, `"decoder": {"type": "CTC"}`),
			want: `decoder: got type "CTC", want one`},
		{name: "decoder of the whole", file: small(decoder, `"decoder": {"type": "Sequence", "decoders": [{"type": "Fuse"},
			{"type": "Metaspace", "replacement": "_"}]}`), want: `decoder: got Metaspace of the whole text, want one Strip`},
		{name: "processor", file: small(`"post_processor": null`, `"post_processor": {"type": "BertProcessing"}`),
			want: `post_processor: got type "BertProcessing", want one of Sequence`},
		{name: "template", file: small(`"post_processor": null`, `"post_processor": {"type": "TemplateProcessing", "single":
			[{"SpecialToken": {"id": "<x>", "type_id": 0}}], "pair": [], "special_tokens": {}}`),
			want: `single: got token "<x>", want one of special_tokens`},
		{name: "id of a template", file: small(`"post_processor": null`, `"post_processor": {"type": "TemplateProcessing",
			"single": [{"SpecialToken": {"id": "<x>"}}, {"Sequence": {"id": "A"}}], "special_tokens":
			{"<x>": {"id": "<x>", "ids": [99], "tokens": ["<x>"]}}}`), want: `post_processor: got id 99, want a token's`},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := text.ReadTokenizer([]byte(row.file))
			require.ErrorContains(t, err, row.want)
			require.NotContains(t, err.Error(), "\n")
			require.Less(t, len(err.Error()), 500)
		})
	}
	tokenizer, err := text.ReadTokenizer([]byte(small()))
	require.NoError(t, err)
	ids, err := tokenizer.Encode("cab<s>abcz")
	require.NoError(t, err)
	require.Equal(t, []int{3, 2, 5, 4}, ids)
}

// TestHostileTokenizers: deeply nested and long files, and patterns that would run for ever, end soon.
func TestHostileTokenizers(t *testing.T) {
	begun := time.Now()
	many := strings.Repeat(`{"type": "NFC"},`, 100_000) + `{"type": "NFC"}`
	for name, file := range map[string]string{
		"lists in each other":   small(`"version": "1.0"`, `"version": `+strings.Repeat("[", 1_000_000)),
		"objects in each other": small(`"normalizer": null`, `"normalizer": `+strings.Repeat(`{"a":`, 1_000_000)),
		"many pairs":            small(`"ab c"`, strings.Repeat(`"a b",`, 3_000_000)+`"ab c"`),
		"long added tokens":     small(`"<s>"`, `"`+strings.Repeat("x", 20_000_000)+`"`),
		"many parts":            small(`"normalizer": null`, `"normalizer": {"type": "Sequence", "normalizers": [`+many+`]}`),
		"a long pattern": small(`"pre_tokenizer": null`, `"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "`+
			strings.Repeat("(", 100_000)+`"}, "behavior": "Isolated"}`),
		"a repeated pattern": small(`"pre_tokenizer": null`, `"pre_tokenizer": {"type": "Split", "pattern": {"Regex":
			"((((((a{1000}){1000}){1000}){1000}){1000}){1000}"}, "behavior": "Isolated"}`),
	} {
		_, err := text.ReadTokenizer([]byte(file))
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "\n", name)
		require.Less(t, len(err.Error()), 1000, name)
	}
	growing := `{"type": "Sequence", "TYPE": [` + strings.Repeat(`{"type": "Replace", "pattern": {"String": "a"}, "content": "`+
		strings.Repeat("a", 100)+`"},`, 6) + `{"type": "Replace", "pattern": {"Regex": ""}, "content": "b"}]}`
	normalizing, err := text.ReadTokenizer([]byte(small(`"normalizer": null`, `"normalizer": `+
		strings.Replace(growing, "TYPE", "normalizers", 1))))
	require.NoError(t, err)
	_, err = normalizing.Encode("banana")
	require.EqualError(t, err, "text: tokenizer: normalizer: got a text that becomes longer than 4192 bytes, want at most "+
		"16 times its length and 4096 bytes")
	_, err = normalizing.Encode("bn")
	require.NoError(t, err)
	decoding, err := text.ReadTokenizer([]byte(small(`"decoder": null`, `"decoder": `+
		strings.Replace(growing, "TYPE", "decoders", 1))))
	require.NoError(t, err)
	decoded, err := decoding.Decode([]int{0, 1, 2})
	require.NoError(t, err)
	require.Less(t, len(decoded), 5*4096)
	slow, err := text.ReadTokenizer([]byte(small(`"pre_tokenizer": null`, `"pre_tokenizer": {"type": "Split", "pattern":
		{"Regex": "(a|a)*$"}, "behavior": "Isolated", "invert": false}`)))
	require.NoError(t, err)
	_, err = slow.Encode(strings.Repeat("a", 100_000) + "b")
	require.EqualError(t, err, `text: tokenizer: pattern "(a|a)*$" takes more than 2s on a text`)
	require.Less(t, time.Since(begun), 30*time.Second)
}

// FuzzTokenizerJSON: a tokenizer that was read encodes and decodes any text.
func FuzzTokenizerJSON(f *testing.F) {
	for _, file := range []string{small(),
		small(`"normalizer": null`, `"normalizer": {"type": "Strip", "strip_left": true}`),
		small(`"pre_tokenizer": null`, `"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "b*"},
			"behavior": "Contiguous"}`),
		small(`"pre_tokenizer": null`, `"pre_tokenizer": {"type": "ByteLevel"}`),
		small(`"normalizer": null`, `"normalizer": {"type": "Sequence", "normalizers": []}`),
		small(`"pre_tokenizer": null`, `"pre_tokenizer": {"type": "Sequence", "pretokenizers": []}`),
	} {
		f.Add(file, "ab <s>c é")
	}
	f.Fuzz(func(t *testing.T, file, s string) {
		tokenizer, err := text.ReadTokenizer([]byte(file))
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		ids, err := tokenizer.Encode(s)
		if err != nil {
			return
		}
		back, err := tokenizer.Decode(tokenizer.WithTemplate(ids))
		require.NoError(t, err)
		require.True(t, utf8.ValidString(strings.Join(stream(t, tokenizer, ids), "")), back)
	})
}
