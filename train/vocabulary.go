package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Vocabulary numbers the characters (Unicode code points) of a text from 0 in
// ascending order. It does not change once made, so any number of goroutines
// may use it.
type Vocabulary struct {
	characters []rune
	ids        map[rune]int
}

// NewVocabulary collects the characters of text. An empty text and one that is
// not UTF-8 are errors.
func NewVocabulary(text string) (*Vocabulary, error) {
	if text == "" {
		return nil, errors.New("train: vocabulary: got an empty text, want at least one character")
	}
	seen := make(map[rune]bool)
	for at, r := range text {
		if err := checkRune(text, at, r); err != nil {
			return nil, err
		}
		seen[r] = true
	}
	v := &Vocabulary{}
	for r := range seen {
		v.characters = append(v.characters, r)
	}
	slices.Sort(v.characters)
	v.number()
	return v, nil
}

func (v *Vocabulary) number() {
	v.ids = make(map[rune]int, len(v.characters))
	for id, r := range v.characters {
		v.ids[r] = id
	}
}

// checkRune refuses a byte that begins no character: ranging over a string
// yields U+FFFD for it, which only as three bytes is a character of its own.
func checkRune(text string, at int, r rune) error {
	if r == utf8.RuneError && !strings.HasPrefix(text[at:], string(utf8.RuneError)) {
		return fmt.Errorf("train: text: got byte 0x%02x at offset %d, want UTF-8", text[at], at)
	}
	return nil
}

// Len returns V, the number of characters; ids are less than it.
func (v *Vocabulary) Len() int { return len(v.characters) }

// Characters returns all characters in the order of their ids. Two vocabularies
// are equal if these are.
func (v *Vocabulary) Characters() string { return string(v.characters) }

// Encode returns the ids of the characters of text. A character that is not in
// the vocabulary is an error that names it and its position, which counts
// characters from 0.
func (v *Vocabulary) Encode(text string) ([]int, error) {
	ids := make([]int, 0, utf8.RuneCountInString(text))
	for at, r := range text {
		if err := checkRune(text, at, r); err != nil {
			return nil, err
		}
		id, ok := v.ids[r]
		if !ok {
			return nil, fmt.Errorf("train: text: got %q at position %d, want one of the vocabulary's %d characters", r, len(ids), v.Len())
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// Decode returns the text of ids. An id outside [0, V) is an error that names
// it and its position.
func (v *Vocabulary) Decode(ids []int) (string, error) {
	var text strings.Builder
	for i, id := range ids {
		if id < 0 || id >= v.Len() {
			return "", fmt.Errorf("train: ids: got %d at position %d, want 0 to %d", id, i, v.Len()-1)
		}
		text.WriteRune(v.characters[id])
	}
	return text.String(), nil
}

type vocabularyJSON struct {
	Characters string `json:"characters"`
}

// MarshalJSON writes {"characters": "…"}, the characters in the order of their ids.
func (v *Vocabulary) MarshalJSON() ([]byte, error) {
	return json.Marshal(vocabularyJSON{v.Characters()})
}

// UnmarshalJSON reads what MarshalJSON wrote. No characters, and characters
// that do not ascend, are errors: their ids would not be those they were saved with.
func (v *Vocabulary) UnmarshalJSON(data []byte) error {
	var j vocabularyJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("train: vocabulary: %w", err)
	}
	characters := []rune(j.Characters)
	if len(characters) == 0 {
		return errors.New("train: vocabulary: got no characters, want at least one")
	}
	for i := 1; i < len(characters); i++ {
		if characters[i] <= characters[i-1] {
			return fmt.Errorf("train: vocabulary: got %q after %q, want ascending characters", characters[i], characters[i-1])
		}
	}
	v.characters = characters
	v.number()
	return nil
}
