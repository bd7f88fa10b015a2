package text

import (
	"math/rand/v2"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Nasty returns texts that tokenizers often get wrong, and some of ordinary words.
func Nasty(n int, specials []string) []string {
	random := rand.New(rand.NewPCG(1, 29))
	parts := []string{
		" ", " ", " ", "  ", "   ", "\t", "\n", "\r\n", "\n\n", "\r", "\u00a0", "\u2028", "\u3000", "\u0085",
		"\v", " \n", "\u200b",
		"'s", "'S", "'ll", "'LL", "'Re", "'ve", "'D", "'m", "'t", "'ſ", "’s", "don't", "I'LL", "'", "''",
		"1", "12", "123", "1234567", "²", "½", "Ⅷ", "٣", "१२", "１２", "3.14", "1,000",
		"the", " the", "Hello", "WORLD", "camelCase", "HTTPServer", "naïve", "café", "cafe\u0301", "Straße",
		"ﬁn", "ǅungla", "ŉ",
		"İ", "ı", "ΣΊΣΥΦΟΣ", "ς", "e\u0301\u0323", "q\u0307\u0323",
		"a" + strings.Repeat("\u0301", 40), "\u0344", "\u1e9b\u0323",
		"日本語", "漢字かな", "中文 字符", "한국어", "\u1112\u1161\u11ab", "नमस्ते",
		"क्षि", "ไทย", "العربية", "עברית", "Привет", "Ελληνικά",
		"🦙", "👨‍👩‍👧", "🏳️‍🌈", "🇩🇪", "👍🏽", "\ufe0f", "\u200d", "\ufeff",
		"\ufffd", "\x00", "\x7f", "\u001c", "\u00ad",
		"!", "...", "!?", "--", "==", "/", "//", "\\", "#", "@", "$", "€", "«", "»", "“", "”", "（",
		"。", "_", "__", "^", "`", "~", "|", "<", ">",
		"<0x0A>", "<unk>", "<s>", "</s>", "▁", "▁▁", "Ġ", "Ċ", "<|im_start|>", "<br>", "</td>",
		"[INST]", "{}", "();", "def f(x):\n    return x\n",
		"\U0010ffff", "\ue000", "𝕏", "𝒜bc", "Å", "Ω", "ａｂ", "ﷺ", "㍿", "①", "ª",
	}
	parts = append(parts, specials...)
	texts := make([]string, n)
	for i := range texts {
		var b strings.Builder
		for range 1 + random.IntN(14) {
			switch random.IntN(20) {
			case 0:
				b.WriteString(strings.Repeat(parts[random.IntN(len(parts))], 1+random.IntN(20)))
			case 1:
				b.WriteRune(randomRune(random, 0x3000))
			case 2:
				b.WriteRune(randomRune(random, 0x20000))
			default:
				b.WriteString(parts[random.IntN(len(parts))])
			}
		}
		texts[i] = b.String()
	}
	return texts
}

// randomRune returns a character below end that Unicode 13 assigns, because all engines' tables have these characters.
func randomRune(random *rand.Rand, end int32) rune {
	for {
		r := random.Int32N(end)
		if utf8.ValidRune(r) && unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S, unicode.M, unicode.Z) {
			return r
		}
	}
}
