package config

import (
	"fmt"
	"slices"
	"strings"
)

// Enum lists the words for a type's values, which count from 0.
type Enum[T ~int] struct {
	Name  string // of the type
	Words []string
}

// String returns the word for a value, or the type's name with the number if there is no word.
func (e Enum[T]) String(v T) string {
	if v < 0 || int(v) >= len(e.Words) {
		return fmt.Sprintf("%s(%d)", e.Name, int(v))
	}
	return e.Words[v]
}

// Validate returns an error for a value without a word.
func (e Enum[T]) Validate(v T) error {
	if v < 0 || int(v) >= len(e.Words) {
		return fmt.Errorf("got %s, want one of %s", e.String(v), strings.Join(e.Words, ", "))
	}
	return nil
}

// MarshalText returns the word of a value, which has one.
func (e Enum[T]) MarshalText(v T) ([]byte, error) { return []byte(e.String(v)), e.Validate(v) }

// UnmarshalText sets a value to the one of a word.
func (e Enum[T]) UnmarshalText(v *T, word []byte) error {
	if err := NotNil(v); err != nil {
		return err
	}
	i := slices.Index(e.Words, string(word))
	if i < 0 {
		return fmt.Errorf("got %.60q, want one of %s", word, strings.Join(e.Words, ", "))
	}
	*v = T(i)
	return nil
}
