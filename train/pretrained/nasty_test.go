package pretrained_test

import (
	"math/rand/v2"
	"strings"
)

// pieces are the parts from which nasty texts are composed, all in Unicode's composed form.
var pieces = []string{
	" ", "  ", "    ", "\t", "\n", "\n\n", "\r\n", "\r", "\u00a0", "\u2028", "\u3000", "\u200b", "\ufeff",
	"\v", "\x00", "\x7f", "a", "I", "the", "The", " word", "Hello", "WORLD", "iPhone", "naïve", "é", "İ", "ß",
	"ﬁ", "Ǆ", "ǅ", "ª", "'s", "'S", "'ll", "'LL", "’re", "don't", "'", "''", "`", "0", "7", "42", "1234",
	"3.14", "1,000,000", "٣", "½", "²", "Ⅷ", "①", ".", "...", "!?", "-", "—", "_", "__", "(", "){", "[]", "<|",
	"|>", "<s>", "#", "$9", "€", "+=", "/", "\\", "//", "😀", "👩‍👩‍👧‍👦", "👍🏽", "🇩🇪", "❤️", "नमस्ते", "हिन्दी",
	"ไทย", "日本語", "中文，", "한국어", "русский", "ελληνικά", "עברית", "العربية", "ﷺ", "𝔘𝔫𝔦", "𐍈", "\U000e0041",
	"\ue000", "\ufffd", "ꙮ", "x́", "ạ̄", "q̇", "\u0301", "़", "=", "==", "\u00ad", "Σίσυφος", "ſ", "K", "ｆｕｌｌ",
	"㍿", "https://x.y/z?q=1",
	"<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|begin_of_text|>", "<end_of_turn>", "<bos>", "<0x0A>", "▁", "▁▁",
	"<tool_call>", "<unused7>", "<table>", "\n\n\n\n", "[PAD7]",
}

// nasty returns texts that different tokenizers are likely to split differently; the texts are the same each time.
func nasty(n int) []string {
	r := rand.New(rand.NewPCG(1, 7))
	texts := make([]string, n)
	for i := range texts {
		var text strings.Builder
		for range 1 + r.IntN(12) {
			if r.IntN(12) > 0 {
				text.WriteString(pieces[r.IntN(len(pieces))])
				continue
			}
			text.WriteRune(assigned[r.IntN(len(assigned))])
		}
		texts[i] = text.String()
	}
	return texts
}

// assigned are characters of many scripts.
var assigned = func() (all []rune) {
	for _, of := range [][2]rune{{0x20, 0x7e}, {0xa1, 0x17f}, {0x391, 0x3a1}, {0x410, 0x44f}, {0x5d0, 0x5ea},
		{0x905, 0x939}, {0x3041, 0x3096}, {0x4e00, 0x4eff},
		{0xac00, 0xacff}, {0x2190, 0x21ff}, {0x1f600, 0x1f64f}, {0x2000, 0x2027}} {
		for c := of[0]; c <= of[1]; c++ {
			all = append(all, c)
		}
	}
	return all
}()
