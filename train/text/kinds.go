package text

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// kind is a set of the character classes that patterns use.
type kind uint16

const (
	letter      kind = 1 << iota // \p{L}
	number                       // \p{N}
	space                        // \s
	mark                         // \p{M}
	upper                        // \p{Lu} and \p{Lt}
	lower                        // \p{Ll}
	newline                      // \r and \n
	word                         // \w
	punctuation                  // for pre-tokenizer Punctuation
	formless                     // in withoutForm
	nonspacing                   // \p{Mn}, for BERT's normalizer
	invisible                    // \p{Cc}, \p{Cf} and \p{Co} without tabs and ends of lines, for BERT's normalizer
)

// kinds holds the classes of all characters.
var kinds = sync.OnceValue(func() *[unicode.MaxRune + 1]kind {
	var all [unicode.MaxRune + 1]kind
	add := func(k kind, tables ...*unicode.RangeTable) {
		for _, table := range tables {
			for _, r := range table.R16 {
				for c := int(r.Lo); c <= int(r.Hi); c += int(r.Stride) {
					all[c] |= k
				}
			}
			for _, r := range table.R32 {
				for c := int(r.Lo); c <= int(r.Hi); c += int(r.Stride) {
					all[c] |= k
				}
			}
		}
	}
	add(letter, unicode.L)
	add(number, unicode.N)
	add(space, unicode.White_Space)
	add(mark, unicode.M)
	add(upper, unicode.Lu, unicode.Lt)
	add(lower, unicode.Ll)
	add(word, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control)
	add(punctuation, unicode.P)
	add(nonspacing, unicode.Mn)
	add(invisible, unicode.Cc, unicode.Cf, unicode.Co)
	for r := range rune(utf8.RuneSelf) {
		if unicode.IsSymbol(r) {
			all[r] |= punctuation
		}
	}
	each := func(ranges [][2]rune, change func(k kind) kind) {
		for _, r := range ranges {
			for c := r[0]; c <= r[1]; c++ {
				all[c] = change(all[c])
			}
		}
	}
	for k, ranges := range map[kind][][2]rune{letter | word: newLetters, upper: newCapitals, lower: newSmalls,
		number | word: newNumbers, mark | word: newMarks} {
		each(ranges, func(before kind) kind { return before | k })
	}
	each(noPunctuation, func(k kind) kind { return k &^ punctuation })
	each(oncePunctuation, func(k kind) kind { return k | punctuation })
	each(withoutForm, func(k kind) kind { return k | formless })
	each(newInvisible, func(k kind) kind { return k &^ (nonspacing | invisible) })
	each(onceNonspacing, func(k kind) kind { return k | nonspacing })
	all['\t'] &^= invisible
	all['\r'] = all['\r']&^invisible | newline
	all['\n'] = all['\n']&^invisible | newline
	return &all
})

// kindsOf returns the kinds of the first character of a text and its length in bytes; 0 and 0 at the end.
func kindsOf(all *[unicode.MaxRune + 1]kind, text string) (kind, int) {
	if text == "" {
		return 0, 0
	}
	if text[0] < utf8.RuneSelf {
		return all[text[0]], 1
	}
	r, n := utf8.DecodeRuneInString(text)
	return all[r], n
}

// run returns the length of the characters at the beginning of a text that belong to one of some classes.
func run(text string, some kind) int {
	all := kinds()
	for at := 0; ; {
		k, n := kindsOf(all, text[at:])
		if k&some == 0 {
			return at
		}
		at += n
	}
}

// runWithout returns the length of the characters at the beginning of a text that belong to none of some classes.
func runWithout(text string, some kind) int {
	all := kinds()
	for at := 0; ; {
		k, n := kindsOf(all, text[at:])
		if n == 0 || k&some != 0 {
			return at
		}
		at += n
	}
}

// firstRune and lastRune return the characters at the ends of a text.
func firstRune(text string) rune {
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

func lastRune(text string) rune {
	r, _ := utf8.DecodeLastRuneInString(text)
	return r
}
