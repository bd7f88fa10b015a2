package text

import (
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"
)

// readNormalizer returns the normalizer of a tokenizer.json; nil if there is none.
func readNormalizer(value jsontext.Value) (_ normalizer, words string, _ error) {
	var all []rule
	var parts []component
	err := readComponents(value, func(c component) []jsontext.Value { return c.Normalizers }, 0, func(c component) error {
		n, err := c.normalizer()
		all, parts = append(all, n), append(parts, c)
		return err
	})
	if len(all) == 0 || err != nil {
		return nil, "", err
	}
	return inOrder(all), inWords(parts), nil
}

func (c component) normalizer() (rule, error) {
	switch c.Type {
	case "NFC":
		return normalForm(norm.NFC), nil
	case "NFD":
		return normalForm(norm.NFD), nil
	case "NFKC":
		return normalForm(norm.NFKC), nil
	case "NFKD":
		return normalForm(norm.NFKD), nil
	case "Lowercase":
		return always(lowercase), nil
	case "Strip":
		return strip(c.StripLeft, c.StripRight), nil
	case "Prepend":
		return prepend(c.Prepend), nil
	case "Replace":
		at, err := c.Pattern.matches()
		return replace(at, c.Content), err
	case "BertNormalizer":
		n := bertNormalizer{clean: isTrue(c.CleanText), chinese: isTrue(c.ChineseChars), lower: isTrue(c.Lowercase)}
		n.accents = n.lower
		if c.StripAccents != nil {
			n.accents = *c.StripAccents
		}
		return always(n.normalize), nil
	}
	return nil, unsupported(c.Type, "Sequence, NFC, NFD, NFKC, NFKD, Lowercase, Strip, Prepend, Replace, BertNormalizer")
}

// isTrue reports whether an option is true. A missing option is true.
func isTrue(option *bool) bool { return option == nil || *option }
