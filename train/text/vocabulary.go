package text

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Vocabulary is the tokenizer whose ids are the characters (Unicode code points)
// of a text, numbered from 0 in ascending order.
type Vocabulary struct {
	characters []rune
	ids        map[rune]int
}

// NewVocabulary returns the vocabulary of text's characters. An empty text and one
// that is not UTF-8 are errors.
func NewVocabulary(text string) (*Vocabulary, error) {
	if text == "" {
		return nil, errors.New("text: vocabulary: got an empty text, want at least one character")
	}
	if err := checkUTF8(text); err != nil {
		return nil, fmt.Errorf("text: %w", err)
	}
	seen := make(map[rune]bool)
	for _, r := range text {
		seen[r] = true
	}
	return newVocabulary(slices.Sorted(maps.Keys(seen))), nil
}

// newVocabulary numbers characters, which must ascend.
func newVocabulary(characters []rune) *Vocabulary {
	v := &Vocabulary{characters: characters, ids: make(map[rune]int, len(characters))}
	for id, r := range characters {
		v.ids[r] = id
	}
	return v
}

// checkUTF8 returns an error for a text with a byte that is not UTF-8. Ranging over a string yields U+FFFD for such a
// byte with width 1; the character U+FFFD itself has three bytes.
func checkUTF8(text string) error {
	for at, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[at:], string(utf8.RuneError)) {
			return fmt.Errorf("got byte 0x%02x at offset %d, want UTF-8", text[at], at)
		}
	}
	return nil
}

// Len returns V, the number of characters.
func (v *Vocabulary) Len() int {
	return len(v.characters)
}

// Characters returns all characters in the order of their ids. Two vocabularies
// are equal if these are.
func (v *Vocabulary) Characters() string {
	return string(v.characters)
}

// Encode returns the ids of the characters of text. The error for a character
// outside the vocabulary names it and its position, in characters from 0.
func (v *Vocabulary) Encode(text string) ([]int, error) {
	if v.Len() == 0 {
		return nil, errNoVocabulary
	}
	if err := checkUTF8(text); err != nil {
		return nil, fmt.Errorf("text: %w", err)
	}
	ids := make([]int, 0, utf8.RuneCountInString(text))
	for _, r := range text {
		id, ok := v.ids[r]
		if !ok {
			return nil, fmt.Errorf("text: got %q at position %d, want one of the vocabulary's %d characters",
				r, len(ids), v.Len())
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// Decode returns the text of ids. The error for an id outside [0, V) names it and
// its position.
func (v *Vocabulary) Decode(ids []int) (string, error) {
	if v.Len() == 0 {
		return "", errNoVocabulary
	}
	var text strings.Builder
	for i, id := range ids {
		if err := checkID(i, id, v.Len()); err != nil {
			return "", err
		}
		text.WriteRune(v.characters[id])
	}
	return text.String(), nil
}

var errNoVocabulary = errors.New("text: vocabulary: got nil or its zero value, want one of NewVocabulary")

// Config returns the config with the name Characters and these characters.
func (v *Vocabulary) Config() TokenizerConfig {
	return TokenizerConfig{Name: Characters, Characters: v.Characters()}
}

// checkCharacters returns an error for characters that newVocabulary cannot number.
func checkCharacters(characters string) error {
	if characters == "" {
		return errors.New("got none, want at least one")
	}
	if err := checkUTF8(characters); err != nil {
		return err
	}
	before := rune(-1)
	for _, r := range characters {
		if r <= before {
			return fmt.Errorf("got %q after %q, want ascending characters", r, before)
		}
		before = r
	}
	return nil
}
