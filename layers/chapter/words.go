package chapter

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"

	"attention/internal/config"
	"attention/layers"

	"gorgonia.org/tensor"
)

// MaxWords is the largest number of words in a section.
const MaxWords = 64

// maxWord is the greatest length of a word, in bytes.
const maxWord = 64

// sentence is the chapter's example: six words, of three numbers each.
var sentence = []string{"Your", "journey", "starts", "with", "one", "step"}

// vectors are the chapter's for its words.
var vectors = map[string][]float64{
	"Your":    {0.43, 0.15, 0.89},
	"journey": {0.55, 0.87, 0.66},
	"starts":  {0.57, 0.85, 0.64},
	"with":    {0.22, 0.58, 0.33},
	"one":     {0.77, 0.25, 0.10},
	"step":    {0.05, 0.80, 0.55},
	unknown:   {0.02, 0.81, 0.52}, // which no notebook prints
}

// chapterSeed is the seed of most sections, and of the vectors of words that the chapter has not.
const chapterSeed = 123

// unknown stands for the fifth word of a notebook that does not print its words.
const unknown = "(new)"

// vector returns three numbers that stand for a word: the chapter's, or numbers between 0 and 1 that
// depend on the word and a seed alone, so that a word has the same in every sentence.
func vector(word string, seed int64) []float64 {
	if v, ok := vectors[word]; ok {
		return v
	}
	hash := fnv.New32a()
	hash.Write([]byte(word)) // never fails
	drawn := layers.NewParams(tensor.Float64, seed^int64(hash.Sum32())).Draw(layers.Uniform(0, 1), 3)
	return drawn.Data().([]float64)
}

// validate refuses a change that the section has no use for, or that is out of range.
func (s Section) validate() error {
	for _, knob := range []struct {
		field    string
		changed  bool
		own      bool
		elements string
	}{
		{"Words", !slices.Equal(s.Words, s.own.Words), s.own.Words != nil, "words"},
		{"Seed", s.Seed != s.own.Seed, s.HasSeed(), "random numbers"},
		{"NumHeads", s.NumHeads != s.own.NumHeads, s.own.NumHeads != 0, "heads"},
		{"Dropout", s.Dropout != s.own.Dropout, s.own.Dropout != 0, "dropout"},
	} {
		if knob.changed && !knob.own {
			return config.Errorf(s, knob.field, "got a value, want none: the section has no %s", knob.elements)
		}
	}
	if s.own.NumHeads != 0 {
		if err := config.AtLeast(s, 1, "NumHeads"); err != nil {
			return err
		}
		if err := config.AtMost(s, maxSectionHeads, "NumHeads"); err != nil {
			return err
		}
	}
	if err := config.Probability(s, "Dropout"); err != nil {
		return err
	}
	return s.validateWords()
}

// maxSectionHeads is the most heads of a section.
const maxSectionHeads = 64

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
			return config.Errorf(s, fmt.Sprintf("Words[%d]", i), "got %.80q, want 1 to %d bytes of printable text without blanks",
				word, maxWord)
		}
	}
	return nil
}
