package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalizer changes a text before it is split.
type normalizer func(text string) (string, error)

// rule is a part of a normalizer or of a decoder. It returns an error instead of a text that is longer than limit
// bytes, unless it cannot make texts much longer.
type rule func(text string, limit int) (string, error)

// Limits of a normalized text: mostGrowth times the bytes of the original, and slack more bytes. Unicode's
// compatibility forms make one character up to 11 times as long.
const (
	mostGrowth = 16
	slack      = 4096
)

// inOrder applies rules in order.
func inOrder(all []rule) normalizer {
	return func(text string) (string, error) {
		limit := lengthLimit(text)
		var err error
		for _, n := range all {
			if text, err = n(text, limit); err != nil {
				return "", err
			}
			if len(text) > limit {
				return "", errGrowth(limit)
			}
		}
		return text, nil
	}
}

// lengthLimit returns the most bytes that a changed text may have.
func lengthLimit(text string) int { return mostGrowth*len(text) + slack }

func errGrowth(limit int) error {
	return fmt.Errorf("normalizer: got a text that becomes longer than %d bytes, want at most %d times its length and %d "+
		"bytes", limit, mostGrowth, slack)
}

// always returns a rule that never fails.
func always(change func(string) string) rule {
	return func(text string, _ int) (string, error) { return change(text), nil }
}

// prepend puts a string before a text that is not empty.
func prepend(before string) rule {
	return always(func(text string) string {
		if text == "" {
			return text
		}
		return before + text
	})
}

// replace replaces matches by content.
func replace(at matches, content string) rule {
	return func(text string, limit int) (string, error) {
		var b strings.Builder
		end, long := 0, false
		err := at(text, func(start, stop int) {
			if long = long || b.Len()+start-end+len(content) > limit; long {
				return
			}
			if end == 0 && b.Len() == 0 {
				b.Grow(len(text))
			}
			b.WriteString(text[end:start])
			b.WriteString(content)
			end = stop
		})
		switch {
		case long && err == nil:
			return "", errGrowth(limit)
		case end == 0 && b.Len() == 0 || err != nil:
			return text, err
		}
		b.WriteString(text[end:])
		return b.String(), nil
	}
}

// strip removes white space at the ends of a text.
func strip(left, right bool) rule {
	return always(func(text string) string {
		if left {
			text = strings.TrimLeftFunc(text, unicode.IsSpace)
		}
		if right {
			text = strings.TrimRightFunc(text, unicode.IsSpace)
		}
		return text
	})
}

// lowercase makes letters lower case. It does not look for ends of words: Σ always becomes σ.
func lowercase(text string) string {
	const dotted = "İ" // its lower-case form has the dot as a separate character
	if strings.Contains(text, dotted) {
		text = strings.ReplaceAll(text, dotted, "i\u0307")
	}
	return strings.Map(unicode.ToLower, text)
}

// normalForm returns a text in a normal form of Unicode.
func normalForm(form norm.Form) rule {
	return always(func(text string) string {
		if form.IsNormalString(text) {
			return text
		}
		var b strings.Builder
		all, start := kinds(), 0
		for i, r := range text {
			if all[r]&formless != 0 {
				b.WriteString(formOf(form, text[start:i]))
				b.WriteRune(r)
				start = i + utf8.RuneLen(r)
			}
		}
		b.WriteString(formOf(form, text[start:]))
		return b.String()
	})
}
