package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalizer changes a text before it is cut.
type normalizer func(text string) (string, error)

// inOrder applies normalizers one after the other.
func inOrder(all []normalizer) normalizer {
	return func(text string) (string, error) {
		var err error
		for _, n := range all {
			if text, err = n(text); err != nil {
				return "", err
			}
		}
		return text, nil
	}
}

// always returns a normalizer that cannot fail.
func always(change func(string) string) normalizer {
	return func(text string) (string, error) { return change(text), nil }
}

// prepend puts a string before a text that is not empty.
func prepend(before string) normalizer {
	return always(func(text string) string {
		if text == "" {
			return text
		}
		return before + text
	})
}

// replace puts content for matches.
func replace(at matches, content string) normalizer {
	return func(text string) (string, error) {
		var b strings.Builder
		end := 0
		err := at(text, func(start, stop int) {
			if end == 0 && b.Len() == 0 {
				b.Grow(len(text))
			}
			b.WriteString(text[end:start])
			b.WriteString(content)
			end = stop
		})
		if end == 0 && b.Len() == 0 || err != nil {
			return text, err
		}
		b.WriteString(text[end:])
		return b.String(), nil
	}
}

// strip removes white space at the ends.
func strip(left, right bool) normalizer {
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

// lowercase writes small letters. It knows no word's end: Σ becomes σ.
func lowercase(text string) string {
	const dotted = "İ" // whose small letter has the dot as a character of its own
	if strings.Contains(text, dotted) {
		text = strings.ReplaceAll(text, dotted, "i\u0307")
	}
	return strings.Map(unicode.ToLower, text)
}

// normalForm returns a text in a normal form of Unicode.
func normalForm(form norm.Form) normalizer {
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
