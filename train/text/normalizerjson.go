package text

import (
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"
)

// readNormalizer returns the normalizer of a tokenizer.json, nil if there is none, and BERT's if there is no other one than
// Lowercase before it.
func readNormalizer(value jsontext.Value) (_ normalizer, only *bertNormalizer, words string, _ error) {
	var all []rule
	var parts []component
	err := readComponents(value, func(c component) []jsontext.Value { return c.Normalizers }, 0, func(c component) error {
		n, err := c.normalizer()
		all, parts = append(all, n), append(parts, c)
		return err
	})
	if len(all) == 0 || err != nil {
		return nil, nil, "", err
	}
	lowered := 0
	for lowered < len(parts) && parts[lowered].Type == "Lowercase" {
		lowered++
	}
	if len(parts) == lowered+1 && parts[lowered].Type == bertKind {
		only = new(parts[lowered].bert())
		only.lowered = lowered > 0
	}
	return inOrder(all), only, inWords(parts), nil
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
	case bertKind:
		return always(c.bert().normalize), nil
	}
	return nil, unsupported(c.Type, "Sequence, NFC, NFD, NFKC, NFKD, Lowercase, Strip, Prepend, Replace, BertNormalizer")
}

// bertKind is the type of BERT's normalizer.
const bertKind = "BertNormalizer"

// bert returns BERT's normalizer.
func (c component) bert() bertNormalizer {
	n := bertNormalizer{clean: isTrue(c.CleanText), chinese: isTrue(c.ChineseChars), lower: isTrue(c.Lowercase)}
	n.accents = n.lower
	if c.StripAccents != nil {
		n.accents = *c.StripAccents
	}
	return n
}

// isTrue reports whether an option is true. A missing option counts as true.
func isTrue(option *bool) bool { return option == nil || *option }
