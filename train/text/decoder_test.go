package text_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// The llama consists of half of one token and of two more tokens: it is returned with the last of them.
func ExampleDecoder() {
	d := text.NewDecoder(text.NewGPT2Tokenizer())
	for _, id := range []int{32, 32660, 1689, 12520, 99, 247, 0} {
		part, err := d.Decode(id)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%q ", part)
	}
	fmt.Printf("%q\n", d.Flush())
	// Output: "A" " ll" "ama" " " "" "🦙" "!" ""
}

// stream decodes ids one by one and returns the text of each id and of the end.
func stream(t testing.TB, tokenizer text.Tokenizer, ids []int) []string {
	d := text.NewDecoder(tokenizer)
	var parts []string
	for _, id := range ids {
		part, err := d.Decode(id)
		require.NoError(t, err)
		parts = append(parts, part)
	}
	return append(parts, d.Flush())
}

func TestDecoderWaitsForWholeCharacters(t *testing.T) {
	s := "aé日🙂."
	ids, err := text.ByteTokenizer{}.Encode(s)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "", "é", "", "", "日", "", "", "", "🙂", ".", ""},
		stream(t, text.ByteTokenizer{}, ids))

	g := text.NewGPT2Tokenizer()
	ids, err = g.Encode(" 🦙ok")
	require.NoError(t, err)
	require.Equal(t, []int{12520, 99, 247, 482}, ids) // the first token is a space and half of the llama
	require.Equal(t, []string{" ", "", "🦙", "ok", ""}, stream(t, g, ids))
}

func TestDecoderGivesTheText(t *testing.T) {
	s := "\x00 naïve\u007f\n日本語 🙂👨‍👩‍👧 \ufffd \U0010ffff   end"
	for _, tokenizer := range tokenizers(t, s) {
		ids, err := tokenizer.Encode(s)
		require.NoError(t, err)
		require.Equal(t, s, strings.Join(stream(t, tokenizer, ids), ""), tokenizer.Config().Name)
	}
}

func TestDecoderReplacesMalformedText(t *testing.T) {
	for _, row := range []struct {
		reason, text string
		want         []string
	}{
		{reason: "ends too early", text: "\xe2\x82", want: []string{"", "", "\ufffd"}},
		{reason: "ends too early, of four bytes", text: "\xf0\x9f\x99", want: []string{"", "", "", "\ufffd"}},
		{reason: "a letter too early", text: "\xe2\x82A", want: []string{"", "", "\ufffdA", ""}},
		{reason: "a character too early", text: "\xf0\x9f\xe2\x82\xac", want: []string{"", "", "\ufffd", "", "€", ""}},
		{reason: "bytes that begin nothing", text: "\x80\xbf\xff\xc0\xc1\xf5",
			want: []string{"\ufffd", "\ufffd", "\ufffd", "\ufffd", "\ufffd", "\ufffd", ""}},
		{reason: "a surrogate", text: "\xed\xa0\x80", want: []string{"", "\ufffd\ufffd", "\ufffd", ""}},
		{reason: "not the shortest form", text: "\xe0\x80", want: []string{"", "\ufffd\ufffd", ""}},
		{reason: "after the last character", text: "\xf4\x90", want: []string{"", "\ufffd\ufffd", ""}},
		{reason: "a character like any other", text: "\xef\xbf\xbd", want: []string{"", "", "\ufffd", ""}},
		{reason: "the Unicode Standard 15.0, section 3.9, table 3-11", text: "\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41",
			want: []string{"", "", "\ufffd", "\ufffd", "", "", "\ufffd", "", "\ufffdA", ""}},
	} {
		ids, err := text.ByteTokenizer{}.Encode(row.text)
		require.NoError(t, err)
		require.Equal(t, row.want, stream(t, text.ByteTokenizer{}, ids), row.reason)
	}
}

func TestDecoderContinues(t *testing.T) {
	d := text.NewDecoder(text.ByteTokenizer{})
	part, err := d.Decode(0xc3)
	require.NoError(t, err)
	require.Empty(t, part)
	part, err = d.Decode(256)
	require.EqualError(t, err, "text: ids: got 256 at position 0, want 0 to 255")
	require.Empty(t, part)
	part, err = d.Decode(0xa9)
	require.NoError(t, err)
	require.Equal(t, "é", part, "a refused id changes nothing")

	_, err = d.Decode(0xc3)
	require.NoError(t, err)
	require.Equal(t, "\ufffd", d.Flush())
	require.Empty(t, d.Flush())
	part, err = d.Decode('x')
	require.NoError(t, err)
	require.Equal(t, "x", part, "a flushed decoder begins anew")
}

// beginnings are all byte sequences that are proper prefixes of a character.
func beginnings() map[string]bool {
	seen := map[string]bool{}
	for r := range rune(utf8.MaxRune + 1) {
		if utf8.ValidRune(r) {
			for n, c := 1, string(r); n < len(c); n++ {
				seen[c[:n]] = true
			}
		}
	}
	return seen
}

// replaced replaces invalid UTF-8 in a text by U+FFFD, by looking up beginnings.
func replaced(s string, beginnings map[string]bool) string {
	var out strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			for k := 2; k <= min(3, len(s)); k++ {
				if beginnings[s[:k]] {
					n = k
				}
			}
		}
		out.WriteRune(r)
		s = s[n:]
	}
	return out.String()
}

// FuzzDecoder uses each byte as an id of the bytes' tokenizer, and each two bytes as an id of GPT-2's. At each step,
// the text so far, with the text that an end would add, is the text of the ids so far.
func FuzzDecoder(f *testing.F) {
	for _, s := range texts() {
		f.Add([]byte(s))
	}
	g, begun := text.NewGPT2Tokenizer(), beginnings()
	f.Fuzz(func(t *testing.T, data []byte) {
		bytes, pairs := make([]int, len(data)), make([]int, len(data)/2)
		for i, b := range data {
			bytes[i] = int(b)
		}
		for i := range pairs {
			pairs[i] = (int(data[2*i])<<8 | int(data[2*i+1])) % g.Len()
		}
		requireStream(t, text.ByteTokenizer{}, bytes, begun)
		requireStream(t, g, pairs, begun)
	})
}

func requireStream(t *testing.T, tokenizer text.Tokenizer, ids []int, begun map[string]bool) {
	d := text.NewDecoder(tokenizer)
	out := ""
	for i, id := range ids[:min(len(ids), 200)] {
		part, err := d.Decode(id)
		require.NoError(t, err)
		out += part
		all, err := tokenizer.Decode(ids[:i+1])
		require.NoError(t, err)
		ended := *d
		require.Equal(t, replaced(all, begun), out+ended.Flush())
	}
}

// TestDecoderFollows: a decoder distinguishes the beginning of a text from its middle.
func TestDecoderFollows(t *testing.T) {
	for _, c := range tokenizerCases(t) {
		if c.Name != "llama2" && c.Name != "Metaspace always true" {
			continue
		}
		tokenizer, err := text.ReadTokenizer(c.Tokenizer)
		require.NoError(t, err)
		before, err := tokenizer.Encode("the")
		require.NoError(t, err)
		after, err := tokenizer.Encode("the word")
		require.NoError(t, err)
		require.Equal(t, "the word", strings.Join(stream(t, tokenizer, after), ""))
		d := text.NewDecoder(tokenizer)
		require.NoError(t, d.Follow(before))
		var all strings.Builder
		for _, id := range after {
			part, err := d.Decode(id)
			require.NoError(t, err)
			all.WriteString(part)
		}
		require.Equal(t, " the word", all.String(), c.Name)
		pieces, err := text.Texts(tokenizer, after)
		require.NoError(t, err)
		require.Equal(t, " the word", strings.Join(pieces, ""), c.Name)
		_, err = text.Piece(tokenizer, tokenizer.Len())
		require.ErrorContains(t, err, "text: ids: got")
		require.ErrorContains(t, d.Follow([]int{-1}), "text: ids: got -1 at position 0, want 0 to")
	}
}
