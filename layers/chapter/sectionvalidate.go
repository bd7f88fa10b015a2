package chapter

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"attention/internal/config"
)

// MaxWords is the largest number of words in a section.
const MaxWords = 64

// maxWord is the greatest length of a word, in bytes.
const maxWord = 64

// Validate returns an error that names the first field that is out of range, or that is set although the section does
// not use it.
func (s Section) Validate() error {
	if s.build == nil || s.own == nil {
		return errors.New("chapter: section: got its zero value, want one of Sections")
	}
	err := cmp.Or(s.validateUse(), s.validateHeads(), config.Probability(s, "Dropout"), s.validateWords())
	if err != nil {
		return fmt.Errorf("chapter: section %d: %w", s.Number, err)
	}
	return nil
}

// validateUse returns an error for a setting that the section does not use.
func (s Section) validateUse() error {
	for _, knob := range []struct {
		field        string
		changed, has bool
		of           string
	}{
		{"Words", !slices.Equal(s.Words, s.own.Words), s.own.Words != nil, "words"},
		{"Seed", s.Seed != s.own.Seed, s.HasSeed(), "random numbers"},
		{"NumHeads", s.NumHeads != s.own.NumHeads, s.own.NumHeads != 0, "heads"},
		{"Dropout", s.Dropout != s.own.Dropout, s.HasDropout(), "dropout"},
	} {
		if knob.changed && !knob.has {
			return config.Errorf(s, knob.field, "got a value, want none: the section has no %s", knob.of)
		}
	}
	return nil
}

// maxSectionHeads is the largest number of heads of a section.
const maxSectionHeads = 64

func (s Section) validateHeads() error {
	if s.own.NumHeads == 0 {
		return nil
	}
	if err := cmp.Or(config.AtLeast(s, 1, "NumHeads"), config.AtMost(s, maxSectionHeads, "NumHeads")); err != nil {
		return err
	}
	if c := s.Layer(); c.Layer != "" {
		return config.From(s, c.validateLayer(), map[string]string{"NumHeads": "NumHeads"})
	}
	return nil
}

func (s Section) validateWords() error {
	if s.own.Words == nil {
		return nil
	}
	if n := len(s.Words); n < 2 || n > MaxWords {
		return config.Errorf(s, "Words", "got %d, want 2 to %d words", n, MaxWords)
	}
	for i, word := range s.Words {
		wrong := func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }
		if word == "" || len(word) > maxWord || strings.ContainsFunc(word, wrong) {
			return config.Errorf(s, fmt.Sprintf("Words[%d]", i),
				"got %.80q, want 1 to %d bytes of printable text without blanks", word, maxWord)
		}
	}
	return nil
}
