package text

import "strings"

// gpt2Pattern splits text into the words of GPT-2. No token extends over two words.
const gpt2Pattern = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

// alternatives are the alternatives of known tokenizers' patterns. Each returns the number of bytes that it matches at
// the beginning of a text, which is not empty; 0 if it does not match.
var alternatives = map[string]func(text string) int{
	`'s`: literal("'s"), `'t`: literal("'t"), `'re`: literal("'re"), `'ve`: literal("'ve"),
	`'m`: literal("'m"), `'ll`: literal("'ll"), `'d`: literal("'d"),
	`'(?i:[sdmt]|ll|ve|re)`:           contraction,
	`(?i:'s|'t|'re|'ve|'m|'ll|'d)`:    contraction,
	` ?\p{L}+`:                        afterBlank(letter),
	` ?\p{N}+`:                        afterBlank(number),
	` ?[^\s\p{L}\p{N}]+`:              signs(letter|number, ""),
	` ?[^\s\p{L}\p{N}]+[\r\n]*`:       signs(letter|number, "\r\n"),
	` ?[^\s\p{L}\p{N}]+[\r\n/]*`:      signs(letter|number, "\r\n/"),
	` ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*`:  signs(letter|mark|number, "\r\n"),
	`[^\r\n\p{L}\p{N}]?\p{L}+`:        afterSign(letter),
	`[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+`: afterSign(letter | mark),
	`\p{N}`:                           digits(1),
	`\p{N}{1,3}`:                      digits(3),
	`\p{N}+`:                          func(text string) int { return run(text, number) },
	`\s*[\r\n]+`:                      lines,
	`\s+(?!\S)`:                       blanks,
	`\s+`:                             func(text string) int { return run(text, space) },
	`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`: lowerWord,
	`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*`: upperWord,
	`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+` +
		`(?i:'s|'t|'re|'ve|'m|'ll|'d)?`: contracted(lowerWord),
	`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*` +
		`(?i:'s|'t|'re|'ve|'m|'ll|'d)?`: contracted(upperWord),
}

// words returns the alternatives of a pattern, or false if one of them is unknown.
func words(pattern string) (all []func(text string) int, ok bool) {
	for len(pattern) > 0 {
		n := alternativeEnd(pattern)
		match := alternatives[pattern[:n]]
		if match == nil {
			return nil, false
		}
		all, pattern = append(all, match), strings.TrimPrefix(pattern[n:], "|")
	}
	return all, true
}

// alternativeEnd returns the length of the first alternative in a pattern.
func alternativeEnd(pattern string) int {
	depth := 0
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '|':
			if depth == 0 {
				return i
			}
		}
	}
	return len(pattern)
}

func literal(word string) func(string) int {
	return func(text string) int {
		if strings.HasPrefix(text, word) {
			return len(word)
		}
		return 0
	}
}

// contraction matches 's, 't, 're, 've, 'm, 'll and 'd in upper or lower case. The long ſ is an s, too.
func contraction(text string) int {
	if text[0] != '\'' || len(text) < 2 {
		return 0
	}
	switch text[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	}
	if strings.HasPrefix(text[1:], "ſ") {
		return 1 + len("ſ")
	}
	if len(text) < 3 {
		return 0
	}
	switch string([]byte{text[1] | 0x20, text[2] | 0x20}) {
	case "re", "ve", "ll":
		return 3
	}
	return 0
}

// contracted matches a word with the contraction after it.
func contracted(word func(string) int) func(string) int {
	return func(text string) int {
		n := word(text)
		if n > 0 && n < len(text) {
			n += contraction(text[n:])
		}
		return n
	}
}

// afterBlank matches characters of a kind, with an optional blank before them.
func afterBlank(some kind) func(string) int {
	return func(text string) int {
		blank := 0
		if text[0] == ' ' {
			blank = 1
		}
		if n := run(text[blank:], some); n > 0 {
			return blank + n
		}
		return 0
	}
}

// signs matches characters that are neither spaces nor of some kinds, with an optional blank before and any characters
// of end after.
func signs(without kind, end string) func(string) int {
	return func(text string) int {
		blank := 0
		if text[0] == ' ' {
			blank = 1
		}
		n := runWithout(text[blank:], space|without)
		if n == 0 {
			return 0
		}
		for n += blank; n < len(text) && strings.IndexByte(end, text[n]) >= 0; n++ {
		}
		return n
	}
}

// afterSign matches characters of a kind, with an optional character before that is neither a letter, nor a number, nor
// an end of line.
func afterSign(some kind) func(string) int {
	return func(text string) int {
		k, n := kindsOf(kinds(), text)
		if k&(newline|letter|number) == 0 {
			if after := run(text[n:], some); after > 0 {
				return n + after
			}
		}
		return run(text, some)
	}
}

// digits matches up to most numbers.
func digits(most int) func(string) int {
	return func(text string) int {
		all, at := kinds(), 0
		for range most {
			k, n := kindsOf(all, text[at:])
			if k&number == 0 {
				break
			}
			at += n
		}
		return at
	}
}

// lines matches white space up to the last end of line in it.
func lines(text string) int { return strings.LastIndexAny(text[:run(text, space)], "\r\n") + 1 }

// blanks matches white space. At the end of a text it matches all of it; elsewhere it leaves the last blank to the next
// word.
func blanks(text string) int {
	n := run(text, space)
	if n == len(text) {
		return n
	}
	return n - lastLength(text[:n])
}
