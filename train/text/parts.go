package text

import (
	"fmt"
	"strings"
)

// Parts describe in words the settings of a tokenizer.json besides its tokens and pairs, for writers of other formats.
type Parts struct {
	// Normalizer and PreTokenizer describe the components in order. A pattern that finds words is included unchanged.
	Normalizer, PreTokenizer string

	IgnoreMerges, ByteFallback bool
	Unknown                    string // the token for unknown characters; "" if there is none
	Added                      []AddedToken
}

// Parts returns the settings in the file of the tokenizer besides its tokens and pairs.
func (t *SubwordTokenizer) Parts() Parts { return t.parts }

// String describes a component.
func (c component) String() string {
	is := func(b *bool) bool { return b == nil || *b } // true if it is missing
	pattern, quoted := "", ""
	if c.Pattern.Regex != nil {
		pattern, quoted = *c.Pattern.Regex, fmt.Sprintf("%q", *c.Pattern.Regex)
	} else if c.Pattern.String != nil {
		quoted = fmt.Sprintf("%q", *c.Pattern.String)
	}
	switch c.Type {
	case "ByteLevel":
		return "ByteLevel" + map[bool]string{true: " with words"}[is(c.UseRegex)] +
			map[bool]string{true: " after a blank"}[is(c.AddPrefixSpace)]
	case "Digits":
		return "Digits" + map[bool]string{false: " together"}[c.IndividualDigits]
	case "Split":
		if pattern != "" && (c.Behavior == isolated && !c.Invert || c.Behavior == removed && c.Invert) {
			return pattern
		}
		return fmt.Sprintf("%s %s", quoted, c.Behavior)
	case "Prepend":
		return fmt.Sprintf("Prepend %q", c.Prepend)
	case "Replace":
		return fmt.Sprintf("Replace %s %q", quoted, c.Content)
	case "Metaspace":
		return fmt.Sprintf("Metaspace %q %s", c.Replacement, c.PrependScheme) +
			map[bool]string{true: ", split"}[is(c.Split)]
	}
	return c.Type
}

// inWords returns descriptions of components in order.
func inWords(all []component) string {
	var words []string
	for _, c := range all {
		words = append(words, c.String())
	}
	return strings.Join(words, ", ")
}
