package text

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// bertNormalizer is BERT's normalizer. Each of these steps runs if the file sets it: remove control characters and make
// all white space blanks, put blanks around Chinese characters, remove accents, make letters lower case.
type bertNormalizer struct {
	clean, chinese, accents, lower bool

	lowered bool // a Lowercase comes before it
}

func (n bertNormalizer) normalize(text string) string {
	all := kinds()
	if n.clean || n.chinese {
		var b strings.Builder
		b.Grow(len(text))
		for _, r := range text {
			switch {
			case n.clean && (r == utf8.RuneError || all[r]&invisible != 0):
			case n.clean && all[r]&space != 0:
				b.WriteByte(' ')
			case n.chinese && isChinese(r):
				b.WriteByte(' ')
				b.WriteRune(r)
				b.WriteByte(' ')
			default:
				b.WriteRune(r)
			}
		}
		text = b.String()
	}
	if n.accents && !isASCII(text) {
		text, _ = normalForm(norm.NFD)(text, 0)
		text = strings.Map(func(r rune) rune {
			if all[r]&nonspacing != 0 {
				return -1
			}
			return r
		}, text)
	}
	if n.lower {
		text = lowercase(text)
	}
	return text
}

// isASCII reports whether all characters are of ASCII.
func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// chinese are the blocks of characters that BERT treats as Chinese.
var chinese = [][2]rune{{0x4E00, 0x9FFF}, {0x3400, 0x4DBF}, {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
	{0x2B920, 0x2CEAF}, {0xF900, 0xFAFF}, {0x2F800, 0x2FA1F}}

func isChinese(r rune) bool {
	if r < chinese[1][0] {
		return false
	}
	for _, block := range chinese {
		if r >= block[0] && r <= block[1] {
			return true
		}
	}
	return false
}

// bertWords splits at white space, which it drops, and makes each punctuation character a word.
type bertWords struct{}

func (bertWords) cut(p part, yield func(part) error) error {
	all, start := kinds(), 0
	word := func(end int) error {
		if start == end {
			return nil
		}
		return yield(p.slice(start, end))
	}
	for i, r := range p.text {
		k := all[r]
		if k&(space|punctuation) == 0 {
			continue
		}
		if err := word(i); err != nil {
			return err
		}
		start = i + utf8.RuneLen(r)
		if k&punctuation != 0 {
			if err := yield(p.slice(i, start)); err != nil {
				return err
			}
		}
	}
	return word(len(p.text))
}
