package text_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"attention/train/text"
)

// The llama is half of one token and two more: it comes with the last of them.
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

// stream decodes ids one by one and returns what each and the end gave.
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
	require.Equal(t, []string{"a", "", "é", "", "", "日", "", "", "", "🙂", ".", ""}, stream(t, text.ByteTokenizer{}, ids))

	g := text.NewGPT2Tokenizer()
	ids, err = g.Encode(" 🦙ok")
	require.NoError(t, err)
	require.Equal(t, []int{12520, 99, 247, 482}, ids) // the first is a space and half of the llama
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
	for s, want := range map[string][]string{
		"\xe2\x82":                 {"", "", "\ufffd"}, // ends too early
		"\xf0\x9f\x99":             {"", "", "", "\ufffd"},
		"\xe2\x82A":                {"", "", "\ufffdA", ""},
		"\xf0\x9f\xe2\x82\xac":     {"", "", "\ufffd", "", "€", ""},
		"\x80\xbf\xff\xc0\xc1\xf5": {"\ufffd", "\ufffd", "\ufffd", "\ufffd", "\ufffd", "\ufffd", ""},
		"\xed\xa0\x80":             {"", "\ufffd\ufffd", "\ufffd", ""}, // a surrogate
		"\xe0\x80":                 {"", "\ufffd\ufffd", ""},           // not the shortest form
		"\xf4\x90":                 {"", "\ufffd\ufffd", ""},           // behind the last character
		"\xef\xbf\xbd":             {"", "", "\ufffd", ""},             // a character like any other
		// The Unicode Standard 15.0, section 3.9, table 3-11.
		"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41": {"", "", "\ufffd", "\ufffd", "", "", "\ufffd", "", "\ufffdA", ""},
	} {
		ids, err := text.ByteTokenizer{}.Encode(s)
		require.NoError(t, err)
		require.Equal(t, want, stream(t, text.ByteTokenizer{}, ids), "% x", s)
	}
}

func TestDecoderGoesOn(t *testing.T) {
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

// beginnings are all byte sequences that begin a character without completing it.
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

// replaced puts U+FFFD for what in text is not UTF-8, by looking beginnings up.
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
