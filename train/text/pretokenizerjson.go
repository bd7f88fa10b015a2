package text

import (
	"cmp"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// readPreTokenizer returns the cutter of a tokenizer.json, and whether the model's symbols are bytes.
func readPreTokenizer(value jsontext.Value) (all sequence, words string, bytes bool, err error) {
	var parts []component
	err = readComponents(value, func(c component) []jsontext.Value { return c.Pretokenizers }, 0, func(c component) error {
		if bytes {
			return fmt.Errorf("got %s after ByteLevel, want ByteLevel at the end", c.Type)
		}
		bytes = c.Type == "ByteLevel"
		cut, err := c.cutter()
		all, parts = append(all, cut), append(parts, c)
		return err
	})
	return all, inWords(parts), bytes, err
}

func (c component) cutter() (cutter, error) {
	switch c.Type {
	case "ByteLevel":
		level := byteLevel{prefix: c.AddPrefixSpace == nil || *c.AddPrefixSpace}
		if c.UseRegex == nil || *c.UseRegex {
			known, _ := words(gpt2Pattern)
			level.words = &wordCutter{alternatives: known}
		}
		return level, nil
	case "Split":
		return c.splitter()
	case "Digits":
		b := contiguous
		if c.IndividualDigits {
			b = isolated
		}
		return splitter{b, false, charactersThat(isNumber)}, nil
	case "Punctuation":
		return splitter{cmp.Or(c.Behavior, isolated), false, charactersThat(isPunctuation)}, checkBehavior(c.Behavior)
	case "BertPreTokenizer":
		return bertWords{}, nil
	case "Whitespace":
		return splitter{removed, true, wordsAndSigns}, nil
	case "Metaspace":
		prefix, err := c.prefix()
		return metaspace{blank: c.Replacement, always: prefix == "always", once: prefix == "first",
			split: c.Split == nil || *c.Split}, err
	}
	return nil, unsupported(c.Type, "Sequence, Split, Digits, ByteLevel, Metaspace, Punctuation, Whitespace, BertPreTokenizer")
}

// splitter returns the cutter of a Split. For known patterns it uses scanners instead of regular expressions.
func (c component) splitter() (cutter, error) {
	if err := checkBehavior(cmp.Or(c.Behavior, "none")); err != nil {
		return nil, err
	}
	if c.Pattern.Regex != nil && c.Pattern.String == nil && (c.Behavior == isolated || c.Behavior == removed && c.Invert) {
		if known, ok := words(*c.Pattern.Regex); ok {
			return wordCutter{known, c.Behavior == removed}, nil
		}
	}
	at, err := c.Pattern.matches()
	return splitter{c.Behavior, c.Invert, at}, err
}

// checkBehavior returns an error for an unknown name of a behavior; "" means the default.
func checkBehavior(b behavior) error {
	switch b {
	case "", removed, isolated, mergedWithPrevious, mergedWithNext, contiguous:
		return nil
	}
	return fmt.Errorf("behavior: got %.100q, want one of %s, %s, %s, %s, %s", string(b), removed, isolated,
		mergedWithPrevious, mergedWithNext, contiguous)
}

// prefix returns the parts before which Metaspace puts its character.
func (c component) prefix() (string, error) {
	if !oneCharacter(c.Replacement) {
		return "", fmt.Errorf("replacement: got %.100q, want one character", c.Replacement)
	}
	without := c.AddPrefixSpace != nil && !*c.AddPrefixSpace // the value in older files that means never
	switch c.PrependScheme {
	case "":
		if without {
			return "never", nil
		}
		return "always", nil
	case "always", "first":
		if without {
			return "", fmt.Errorf("add_prefix_space: got false with prepend_scheme %s, want never", c.PrependScheme)
		}
		return c.PrependScheme, nil
	case "never":
		return "never", nil
	}
	return "", fmt.Errorf("prepend_scheme: got %.100q, want one of always, first, never", c.PrependScheme)
}
